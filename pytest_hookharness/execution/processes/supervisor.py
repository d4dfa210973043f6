"""
The supervisor: one small process that forks a keeper for every item.

Run as a program by path; the pytest process only needs its place. It is a process of
its own so that the pytest process never has to be changed: no reaper flag, no signal handlers.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_END_TIMEOUT_MS = 2000
PLAIN, ANY = b"g", b"o"  # the first asks for process groups only


def main(arguments: list[str]) -> None:
    """
    Serve until pytest is gone, then end all that is left.
    """
    from pytest_hookharness.execution.processes.spawn import Spawner

    _be_neutral()
    # Nothing here makes circles worth a search, and what was loaded so far stays shared with the keepers.
    gc.disable()
    gc.freeze()
    channel = socket.socket(fileno=int(arguments[0]))
    Supervision(channel, int(arguments[1]), Spawner()).run()


def _be_neutral() -> None:
    """
    Undo what this process inherited and a hook must not inherit in turn.
    """
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    # A handler, not "ignore": an exec resets the former, and a careless `kill 0` of a hook finds us anyway.
    for number in (
        signal.SIGINT,
        signal.SIGTERM,
        signal.SIGHUP,
        signal.SIGQUIT,
        signal.SIGUSR1,
        signal.SIGUSR2,
    ):
        signal.signal(number, lambda *_: None)


class Supervision:
    """
    The keepers that live, and the two signs that pytest does.
    """

    def __init__(self, channel: socket.socket, pytest_pid: int, spawner: object) -> None:
        from pytest_hookharness.execution import platform
        from pytest_hookharness.execution.processes import item_supervisor

        self._channel = channel
        self._spawner = spawner
        self._peers: dict[int, socket.socket] = {}
        self._tiers: dict[str, str] = {}
        self._wake = item_supervisor.watch_children()
        # The socket alone would not do: a process forked from pytest may hold its other end open.
        self._pytest = platform.spawning().open_process(pytest_pid)
        self._is_subreaper = False

    def run(self) -> None:
        """
        Open keepers as they are asked for.
        """
        poll = select.poll()
        for descriptor in (self._channel.fileno(), self._wake, self._pytest):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._reap()
            if self._pytest in ready:
                break
            if self._channel.fileno() in ready and not self._fork_item_supervisor():
                break
        self._end()

    def _fork_item_supervisor(self) -> bool:
        """
        Fork a keeper for one item; false if nobody is left to ask for it.
        """
        try:
            kind, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
        except OSError:
            return False
        if not kind or not descriptors:
            return False
        peer = socket.socket(fileno=descriptors[0])
        peer.set_inheritable(False)
        if not self._tiers:
            self._tiers = _probe()
        if kind == ANY and not self._is_subreaper and not self._tiers["subreaper"]:
            from pytest_hookharness.execution import platform

            # A keeper that is killed by force leaves its orphans to us.
            platform.spawning().become_subreaper()
            self._is_subreaper = True
        pid = os.fork()
        if pid == 0:
            self._become_item_supervisor(peer)
        # Held until the keeper is reaped and swept after: pytest sees the end of the socket only then.
        self._peers[pid] = peer
        return True

    def _become_item_supervisor(self, peer: socket.socket) -> None:
        """
        Turn this child into a keeper; it never returns.
        """
        from pytest_hookharness.execution.processes import framing, item_supervisor

        try:
            signal.set_wakeup_fd(-1)
            for descriptor in (self._wake, self._pytest):
                if descriptor >= 0:
                    os.close(descriptor)
            self._channel.close()
            for other in self._peers.values():
                other.close()
            self._peers.clear()
            item_supervisor.serve_item(peer, self._spawner, self._tiers)  # type: ignore[arg-type]
        except (EOFError, ConnectionError):
            pass
        except BaseException as problem:  # noqa: BLE001  # whatever it is, pytest is told  # whatever it is, pytest is told
            framing.send(peer, ("failed", item_supervisor.describe_error(problem)))
        finally:
            os._exit(0)

    def _reap(self) -> None:
        """
        Let go of keepers that ended, and end what they left behind.
        """
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                pid = 0
            if pid == 0:
                return
            peer = self._peers.pop(pid, None)
            if peer is not None:
                self._kill_orphans()
                peer.close()

    def _kill_orphans(self) -> None:
        """
        End the orphans that came to us, and theirs, until there are none.
        """
        from pytest_hookharness.execution import platform
        from pytest_hookharness.execution.processes import process_tree

        table = platform.processes()
        while orphans := [pid for pid in table.children(os.getpid()) if pid not in self._peers]:
            for pid in orphans:
                process_tree.send([pid, *process_tree.descendants(pid)], signal.SIGKILL)
            for pid in orphans:
                try:
                    os.waitpid(pid, 0)
                except ChildProcessError:
                    continue

    def _end(self) -> None:
        """
        Have the keepers end what is theirs, then end all that is left.
        """
        # Most have seen the end of their own socket; one whose other end was inherited by somebody has not.
        for pid in self._peers:
            os.kill(pid, signal.SIGHUP)
        poll = select.poll()
        poll.register(self._wake, select.POLLIN)
        while self._peers and poll.poll(_END_TIMEOUT_MS):
            os.read(self._wake, 4096)
            self._reap()
        for pid in self._peers:
            os.kill(pid, signal.SIGKILL)
        self._peers.clear()
        self._kill_orphans()


def _probe() -> dict[str, str]:
    """
    Try each tier once; give the reasons against those that are not available.
    """
    from pytest_hookharness.execution.processes import item_supervisor

    return {
        item_supervisor.NAMESPACES: _try(_enter_namespaces),
        item_supervisor.SUBREAPER: _try(_become_subreaper),
        item_supervisor.GROUP: "",
    }


def _try(attempt: Callable[[], None]) -> str:
    """
    Do something irrevocable in a child, and tell why it failed.
    """
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            attempt()
        except OSError as problem:
            os.write(write_end, str(problem).encode() or b"refused")
        finally:
            os._exit(0)
    os.close(write_end)
    reason = os.read(read_end, 4096).decode()
    os.close(read_end)
    os.waitpid(pid, 0)
    return reason


def _enter_namespaces() -> None:
    from pytest_hookharness.execution import platform

    platform.isolation().enter(False)
    pid = os.fork()
    if pid == 0:
        try:
            platform.isolation().set_up(False)
        except OSError as problem:
            # The report of the parent's parent is a pipe that this process has as well.
            os._exit((problem.errno or 1) & 0x7F)
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, f"mounting inside namespaces: {os.strerror(code)}")


def _become_subreaper() -> None:
    from pytest_hookharness.execution import platform

    platform.spawning().become_subreaper()


def _make_package_importable() -> None:
    """
    Let this program import its package without running the package's ``__init__``, which costs time.

    It is started by its path, so the folder that holds the package is not on ``sys.path``.
    """
    package = types.ModuleType("pytest_hookharness")
    package.__path__ = [os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))]
    sys.modules[package.__name__] = package


if __name__ == "__main__":
    _make_package_importable()
    main(sys.argv[1:])
