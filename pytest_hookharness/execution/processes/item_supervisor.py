"""
The item supervisor: the small process that runs the hooks of one item.

It is forked by the supervisor and never runs in the pytest process. It lives exactly as long as its item: it
ends when the other end of its socket is closed, and kills every descendant before it does.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys

from pytest_hookharness.execution.exhaustion import explain_exhaustion
from pytest_hookharness.execution.platform import linux
from pytest_hookharness.execution.platform import linux_namespaces as isolation
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes import framing
from pytest_hookharness.execution.processes.batch import Batch
from pytest_hookharness.execution.processes.overlay import OverlayView
from pytest_hookharness.execution.processes.process_tree import Descendants, SurvivorError, watch_children
from pytest_hookharness.execution.processes.spawn import Spawner
from pytest_hookharness.execution.processes.stdio import open_terminal
from pytest_hookharness.execution.processes.survivors import ProcessGroup

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence
    from typing import Any

    from pytest_hookharness.execution.platform.linux_namespaces import Renewal
    from pytest_hookharness.model.processes import ProcessResult, ProcessSpec

NAMESPACES, SUBREAPER, GROUP = "namespaces", "subreaper", "process group"


def describe_error(problem: BaseException) -> str:
    """Return what the machine lacks, or else an exception and the frames it passed through, as text."""
    if lack := explain_exhaustion(problem):
        return lack
    # Without ``traceback``, whose import would cost several milliseconds at every start.
    frames = []
    frame = problem.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        frames.append(f"{os.path.basename(code.co_filename)}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return f"{type(problem).__name__}: {problem} ({' > '.join(frames)})"


@contextlib.contextmanager
def _reporting(peer: socket.socket) -> Generator[None]:
    """Report any error in a block to the pytest process, but not that this process is gone."""
    try:
        yield
    except (EOFError, ConnectionError):
        raise
    except BaseException as problem:  # noqa: BLE001  # pytest reports any error
        framing.send(peer, ("failed", describe_error(problem)))


def serve_item(peer: socket.socket, spawner: Spawner, tiers: dict[str, str]) -> None:
    """Serve one item, to its last request; ``tiers`` says why each is not available, or is empty for it."""
    with _reporting(peer):
        _serve(peer, spawner, tiers)


def _serve(peer: socket.socket, spawner: Spawner, tiers: dict[str, str]) -> None:
    request = framing.receive(peer)
    if request[0] == "tiers":
        framing.send(peer, tiers)
        return
    _, asked, network, view = request
    tier = asked or next(name for name, reason in tiers.items() if not reason)
    if tiers[tier]:
        framing.send(peer, ("refused", f"the tier {tier!r} is not available here: {tiers[tier]}"))
    elif tier == NAMESPACES:
        planned = OverlayView(*view)
        _serve_in_namespaces(spawner, network, lambda: (peer, planned))
    elif tier == SUBREAPER:
        system.become_subreaper()
        framing.send(peer, ("ready", tier, [], [], [], "" if asked else tiers[NAMESPACES], []))
        serve_batches(peer, spawner, Descendants(False, spawner.warm.pids))
    else:
        _serve_in_group(peer, spawner, "" if asked else tiers[NAMESPACES])


def _serve_in_group(peer: socket.socket, spawner: Spawner, reason: str) -> None:
    """Serve where no process becomes the parent of orphans; in a control group if the system allows one."""
    # Needed in this tier only.
    from pytest_hookharness.execution.platform import linux_control_groups as groups

    try:
        own = groups.enter()
    except OSError:
        own = ""
    try:
        evidence = ["the limit on file locks" if linux.has_marks() else "an open descriptor"]
        evidence += ["streams", "environment", *(["control group"] if own else [])]
        framing.send(peer, ("ready", GROUP, [], [], [], reason, evidence))
        serve_batches(peer, spawner, ProcessGroup((lambda: groups.processes(own)) if own else tuple))
    finally:
        if own:
            groups.leave(own)


def serve_prepared(channel: socket.socket, spawner: Spawner) -> None:
    """
    Enter namespaces without network ahead of an item, wait for its socket, and serve it.

    This process ends if the supervisor closes the channel instead of sending the socket.
    """

    def wait() -> tuple[socket.socket, OverlayView]:
        _, descriptors, _, _ = socket.recv_fds(channel, 1, 1)
        channel.close()
        if not descriptors:
            raise EOFError("no item came")
        peer = socket.socket(fileno=descriptors[0])
        peer.set_inheritable(False)
        *_, view = framing.receive(peer)
        return peer, OverlayView(*view)

    _serve_in_namespaces(spawner, False, wait)


def _serve_in_namespaces(
    spawner: Spawner, network: bool, wait: Callable[[], tuple[socket.socket, OverlayView]]
) -> None:
    """
    Enter namespaces and let their first process serve; return when that and everything inside is gone.

    ``wait``, called inside, returns the socket to the pytest process and the view of the files.
    """
    # What it compiled there would look like a write of a hook, and is discarded.
    sys.dont_write_bytecode = True
    refusal, names, own_users = "", -1, False
    try:
        names = isolation.hold_names()
        # A new process namespace begins with the next child, so this process stays outside and waits for it.
        own_users = isolation.enter(network)
        if pid := os.fork():
            # SIGHUP shall end this process: the kernel then ends the first process inside (see
            # ``die_with_parent``), and with that everything in its process namespace.
            signal.signal(signal.SIGHUP, signal.SIG_DFL)
            # This process or the supervisor keeps a copy of the socket until then: for pytest, the end of the
            # socket proves that all are dead.
            os.waitpid(pid, 0)
            return
        # Asked for by the child itself, since the kernel clears it at every fork.
        linux.die_with_parent()
        isolation.set_up(network)
    except OSError as problem:
        refusal = describe_error(problem)
    peer, view = wait()
    with _reporting(peer):
        try:
            if not refusal:
                view.mount(own_users=own_users)
        except OSError as problem:
            refusal = describe_error(problem)
        if refusal:
            framing.send(peer, ("refused", refusal))
            return
        framing.send(peer, ("ready", NAMESPACES, view.stubs, view.contained, view.refusals, "", []))
        # While pytest looks at the files; no request is read before.
        renew = isolation.make_renewable(network, names)
        serve_batches(peer, spawner, Descendants(True, spawner.warm.pids), renew)
        # Before the end of the socket, since the kernel takes a while to remove the mounts.
        with contextlib.suppress(OSError):
            framing.send(peer, (framing.ENDED,))


def serve_batches(
    peer: socket.socket,
    spawner: Spawner,
    tree: Descendants | ProcessGroup,
    renew: Renewal = lambda *_: False,
) -> None:
    """
    Run one batch after the other until the other side is gone, then kill everything that is left.

    ``renew`` resets the sandbox after all processes have ended, and returns whether it could.
    """
    wake = watch_children()
    signal.signal(signal.SIGHUP, _on_hangup)
    # No folder of the item may be kept in use by this process.
    os.chdir("/")
    try:
        while True:
            request: tuple[Any, ...] = framing.receive(peer)
            if request[0] == framing.OBSERVED:
                # Without one, it is forked when it is asked for.
                with contextlib.suppress(OSError):
                    spawner.hold()
                continue
            if request[0] == framing.AGAIN:
                spawner.release()
                tree.kill_all(())
                spawner.warm.forget_all()
                with contextlib.suppress(OSError):
                    if renew(request[1], lambda: framing.send(peer, ("ready",))):
                        continue
                # pytest sees the end of the socket, and opens another sandbox.
                return
            if request[0] == framing.TERMINAL:
                _hand_over_terminal(peer)
                continue
            # The wake-ups of the last batch, before the hooks start: none of the new batch may be lost.
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
            try:
                answer: tuple[str, Any] = "runs", Batch(tree, spawner, peer, wake).run(*request)
            except (OSError, SurvivorError) as problem:
                answer = "failed", describe_error(problem)
            framing.send(peer, answer)
    except (EOFError, ConnectionError):
        return
    finally:
        # Whatever happened: the socket is closed only after this, so pytest sees its end only when all are
        # dead.
        tree.kill_all(())


def _hand_over_terminal(peer: socket.socket) -> None:
    """Open a terminal here, where hooks can find it, and send both ends of it to pytest."""
    try:
        ends = open_terminal()
    except OSError as problem:
        framing.send(peer, ("failed", describe_error(problem)))
        return
    try:
        framing.send(peer, (framing.TERMINAL, os.ttyname(ends[1])))
        socket.send_fds(peer, [b"t"], ends)
    finally:
        for descriptor in ends:
            os.close(descriptor)


def _on_hangup(number: int, _frame: object) -> None:
    """End as if the other side were gone; the supervisor sends SIGHUP when that cannot be seen from here."""
    signal.signal(number, lambda *_: None)
    raise EOFError("the supervisor ends")


class NestedProcesses:
    """
    The processes that a fake agent starts below itself, as a host starts its hooks.

    The code of an item supervisor attends to them, in the fake agent's own process. All of them have ended
    before the fake agent goes on.
    """

    def __init__(self) -> None:
        self._tree: Descendants | ProcessGroup
        try:
            system.become_subreaper()
            self._tree = Descendants(first_of_namespace=False)
        except OSError:
            self._tree = ProcessGroup()
        self._spawner = Spawner()
        self._wake = watch_children()
        # A batch ends when anything arrives at its control socket; nothing ever does here.
        self._control, self._other_end = socket.socketpair()

    def run(self, specs: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
        """Start all processes at once and return their results in the same order."""
        from pytest_hookharness.execution.processes.translation import decode, encode

        batch = Batch(self._tree, self._spawner, self._control, self._wake)
        return tuple(decode(report) for report in batch.run([encode(spec) for spec in specs], None))
