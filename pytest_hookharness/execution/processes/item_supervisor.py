"""
The keeper: the small process that fires the hooks of one item.

Runs inside the supervisor's children, never in the pytest process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket

from pytest_hookharness.execution import platform
from pytest_hookharness.execution.isolation.overlay import OverlayView
from pytest_hookharness.execution.processes import framing
from pytest_hookharness.execution.processes.batch import Batch
from pytest_hookharness.execution.processes.process_tree import Descendants, ProcessGroup, SurvivorError
from pytest_hookharness.execution.processes.spawn import Spawner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

NAMESPACES, SUBREAPER, GROUP = "namespaces", "subreaper", "process group"


def trace(problem: BaseException) -> str:
    """
    Tell a problem and where it arose.
    """
    # Without the library for that, which would cost the start-up several milliseconds.
    places = []
    frame = problem.__traceback__
    while frame is not None:
        code = frame.tb_frame.f_code
        places.append(f"{os.path.basename(code.co_filename)}:{frame.tb_lineno} {code.co_name}")
        frame = frame.tb_next
    return f"{type(problem).__name__}: {problem} ({' > '.join(places)})"


def watch_children() -> int:
    """
    Have the end of a child make a descriptor readable, and return that descriptor.
    """
    seen, told = os.pipe()
    os.set_blocking(seen, False)
    os.set_blocking(told, False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(told, warn_on_full_buffer=False)
    return seen


def keep(peer: socket.socket, spawner: Spawner, tiers: dict[str, str]) -> None:
    """
    Serve one item from its first value to its last.

    Args:
        peer: Connected with the pytest process.
        spawner: Starts processes.
        tiers: Every tier, with the reason why it is not available here, empty if it is.
    """
    request = framing.receive(peer)
    if request[0] == "tiers":
        framing.send(peer, tiers)
        return
    _, asked, network, view = request
    tier = asked or next(name for name, reason in tiers.items() if not reason)
    if tiers[tier]:
        framing.send(peer, ("refused", f"the tier {tier!r} is not available here: {tiers[tier]}"))
    elif tier == NAMESPACES:
        _keep_in_namespaces(peer, spawner, network, OverlayView(*view))
    else:
        if tier == SUBREAPER:
            platform.spawning().become_subreaper()
        framing.send(peer, ("ready", tier, [], [], [], "" if asked else tiers[NAMESPACES]))
        serve(peer, spawner, ProcessGroup() if tier == GROUP else Descendants(False))


def _keep_in_namespaces(peer: socket.socket, spawner: Spawner, network: bool, view: OverlayView) -> None:
    """
    Enter namespaces and let their first process serve; return when it is gone, and with it all inside.
    """
    try:
        own_users = platform.isolation().enter(network)
        pid = os.fork()
    except OSError as problem:
        framing.send(peer, ("refused", trace(problem)))
        return
    if pid:
        # A plain end by this signal: with this process the kernel ends the first one inside.
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        # This process keeps its copy of the socket until then: its end tells pytest that all are dead.
        os.waitpid(pid, 0)
        return
    try:
        platform.spawning().die_with_parent()
        platform.isolation().set_up(network)
        view.furnish(own_users=own_users)
    except OSError as problem:
        framing.send(peer, ("refused", trace(problem)))
        return
    framing.send(peer, ("ready", NAMESPACES, view.stubs, view.contained, view.refusals, ""))
    serve(peer, spawner, Descendants(True))


def serve(peer: socket.socket, spawner: Spawner, reach: Descendants | ProcessGroup) -> None:
    """
    Fire one batch after the other until the other side is gone.
    """
    wake = watch_children()
    signal.signal(signal.SIGHUP, _leave)
    os.chdir("/")
    try:
        while True:
            request: tuple[list[Any], float | None] = framing.receive(peer)
            _clear(wake)
            try:
                answer: tuple[str, Any] = "runs", Batch(reach, spawner, peer, wake).run(*request)
            except (OSError, SurvivorError) as problem:
                answer = "failed", trace(problem)
            framing.send(peer, answer)
    except (EOFError, ConnectionError):
        pass
    finally:
        reach.sweep(())


def _leave(number: int, _frame: object) -> None:
    """
    End as if the other side were gone: the supervisor says so when it cannot be seen from here.
    """
    signal.signal(number, lambda *_: None)
    raise EOFError("the supervisor ends")


def _clear(wake: int) -> None:
    """
    Forget the children that ended after the last batch.
    """
    with contextlib.suppress(BlockingIOError):
        os.read(wake, 4096)
