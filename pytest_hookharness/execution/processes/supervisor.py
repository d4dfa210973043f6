"""
The supervisor: one small process that forks an item supervisor for every item.

It is a process of its own so that the pytest process stays unchanged: pytest must not become a reaper of
orphans and needs no signal handlers. Everything that it needs is imported before the first fork.

What always holds:

* Every process that a hook starts hangs below an item supervisor, or below this process if its item
supervisor was killed. So when both have swept, nothing survives.
* pytest sees the end of an item's socket only after everything of the item is dead, because this process
keeps the socket open until then.
* This process ends when pytest does, even if pytest is killed: it watches pytest's socket and pytest's
process.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket

from pytest_hookharness.execution.platform import linux_namespaces
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes import framing, item_supervisor, process_tree
from pytest_hookharness.execution.processes.spawn import Spawner

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_UNTIL_MOUNTED_MS = 8
_END_TIMEOUT_MS = 2000


def main(channel: str, pytest_pid: str) -> None:
    """Serve until pytest is gone, then end everything; ``channel`` is the number of the socket to pytest."""
    _be_neutral()
    # The loops create no reference cycles. Frozen objects are never written to, so the forked item
    # supervisors keep sharing the memory that was loaded so far.
    gc.disable()
    gc.freeze()
    Supervision(socket.socket(fileno=int(channel)), int(pytest_pid)).run()


def _be_neutral() -> None:
    """Reset what this process inherited and no hook may inherit, and keep hooks out of its memory."""
    system.allow_dumps(False)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP, signal.SIGPIPE, signal.SIGXFSZ}:
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    # A handler and not SIG_IGN: an exec resets a handler, so no hook inherits it. A hook's careless `kill 0`
    # reaches this process too and must not end it.
    for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"):
        signal.signal(signal.Signals[name], lambda *_: None)


class Supervision:
    """The item supervisors that are alive, and the connection to pytest."""

    def __init__(self, channel: socket.socket, pytest_pid: int) -> None:
        self._channel = channel
        self._spawner = Spawner()
        self._peers: dict[int, socket.socket] = {}
        self._tiers: dict[str, str] = {}
        # An item supervisor that is in namespaces already, and the mounts of the machine at that time.
        self._prepared: tuple[int, bytes] | None = None
        self._asked = 0
        # Milliseconds after which something is prepared for the next item.
        self._delay: int | None = None
        self._wake = process_tree.watch_children()
        # The socket is not enough: a process forked from pytest may hold its other end open.
        self._pytest = system.open_process(pytest_pid)
        self._is_subreaper = False

    def run(self) -> None:
        """Fork item supervisors on request until pytest is gone."""
        poll = select.poll()
        for descriptor in (self._channel.fileno(), self._wake, self._pytest):
            if descriptor >= 0:
                poll.register(descriptor, select.POLLIN)
        # Before the first request. If it is refused, the first sandbox tries again and reports it.
        with contextlib.suppress(OSError):
            self._tiers = _probe()
        while True:
            ready = {descriptor for descriptor, _ in poll.poll(self._delay)}
            if not ready:
                self._prepare_next()
            if self._wake in ready:
                os.read(self._wake, 4096)
                self._reap()
            if self._pytest in ready:
                break
            if self._channel.fileno() in ready and not self._fork_item_supervisor():
                break
        self._end()

    def _fork_item_supervisor(self) -> bool:
        """Fork an item supervisor; return false if the other side is gone."""
        try:
            kind, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
        except OSError:
            return False
        if not kind:
            return False
        if not descriptors:
            # This process had no descriptor left for it. pytest sees the end of the socket.
            return True
        peer = socket.socket(fileno=descriptors[0])
        peer.set_inheritable(False)
        try:
            pid = (kind == framing.BEST and self._hand_over(peer)) or self._prepare_and_fork(kind)
        except OSError as problem:
            self._refuse(peer, problem)
            return True
        if pid == 0:
            self._become_item_supervisor(lambda: item_supervisor.serve_item(peer, self._spawner, self._tiers))
        # Kept open until the item supervisor is reaped and its orphans are dead: pytest takes the end of the
        # socket as the proof of that.
        self._peers[pid] = peer
        self._asked += kind == framing.BEST
        # After a second item there may be more. A plan of mounts in a user namespace is made outside of it.
        if self._asked > 1 and self._prepared is None and os.geteuid() == 0:
            self._delay = _UNTIL_MOUNTED_MS
        return True

    def _prepare_next(self) -> None:
        """Prepare for the next item, now that the mounts of this one are made."""
        self._delay = None
        with contextlib.suppress(OSError):
            self._prepare()

    def _prepare(self) -> None:
        """Fork the item supervisor of the next item, which enters its namespaces meanwhile."""
        if self._tiers[item_supervisor.NAMESPACES]:
            return
        ours, theirs = socket.socketpair()
        with theirs:
            mounts = linux_namespaces.mount_table()
            pid = os.fork()
            if pid == 0:
                ours.close()
                self._become_item_supervisor(lambda: item_supervisor.serve_prepared(theirs, self._spawner))
        self._peers[pid] = ours
        self._prepared = pid, mounts

    def _hand_over(self, peer: socket.socket) -> int:
        """Give an item to the item supervisor that was prepared for it; return its number, 0 if none was."""
        if self._prepared is None:
            return 0
        pid, mounts = self._prepared
        self._prepared = None
        # Closed in any case: without the socket of an item it ends.
        with self._peers[pid] as channel, contextlib.suppress(OSError):
            # It does not see what was mounted since.
            if linux_namespaces.mount_table() == mounts:
                socket.send_fds(channel, [framing.BEST], [peer.fileno()])
                return pid
        return 0

    def _prepare_and_fork(self, kind: bytes) -> int:
        if not self._tiers:
            self._tiers = _probe()
        if kind != framing.PLAIN and not self._is_subreaper and not self._tiers["subreaper"]:
            # The orphans of an item supervisor that is killed become children of this process.
            system.become_subreaper()
            self._is_subreaper = True
        return os.fork()

    def _refuse(self, peer: socket.socket, problem: OSError) -> None:
        """Tell pytest why there is no item supervisor, and go on for the other items."""
        try:
            framing.send(peer, ("failed", item_supervisor.describe_error(problem)))
        except OSError:
            pass  # pytest does not wait for it any more
        finally:
            peer.close()

    def _become_item_supervisor(self, serve: Callable[[], None]) -> None:
        """Turn this child into an item supervisor; never returns."""
        try:
            signal.set_wakeup_fd(-1)
            os.close(self._wake)
            # Not every system lets a fork have it.
            with contextlib.suppress(OSError):
                os.close(self._pytest)
            self._channel.close()
            for other in self._peers.values():
                other.close()
            self._peers.clear()
            self._spawner.open_own_pipe()
            serve()
        except (EOFError, ConnectionError):
            pass
        finally:
            os._exit(0)

    def _reap(self) -> None:
        """Reap the item supervisors that ended, and end what they left behind."""
        while True:
            try:
                pid, _ = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                pid = 0
            if pid == 0:
                return
            if self._prepared is not None and self._prepared[0] == pid:
                self._prepared = None
            peer = self._peers.pop(pid, None)
            if peer is not None:
                self._kill_orphans()
                peer.close()

    def _kill_orphans(self) -> None:
        """End the orphans that became our children, with their descendants, until there are none."""
        # A loop, because the children of a killed process become ours.
        while orphans := [pid for pid in system.children(os.getpid()) if pid not in self._peers]:
            for pid in orphans:
                process_tree.send([pid, *process_tree.descendants(pid)], signal.SIGKILL)
            for pid in orphans:
                try:
                    os.waitpid(pid, 0)
                except ChildProcessError:
                    continue

    def _end(self) -> None:
        """Let the item supervisors end their processes, then end everything that is left."""
        # Most have noticed the end of their own socket. One has not if another process inherited the other
        # end. Those that do not end in time are killed, and their orphans become our children.
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
    """Try each tier once; return the reason why it is not available, empty if it is."""
    return {
        item_supervisor.NAMESPACES: _try(_enter_namespaces),
        item_supervisor.SUBREAPER: _try(system.become_subreaper),
        item_supervisor.GROUP: "",
    }


def _try(attempt: Callable[[], None]) -> str:
    """Do something irrevocable in a child process; return why it failed, empty if it did not."""
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
    linux_namespaces.enter(False)
    pid = os.fork()
    if pid == 0:
        try:
            linux_namespaces.set_up(False)
        except OSError as problem:
            # The pipe of the report belongs to the grandparent, so only a number can be returned.
            os._exit((problem.errno or 1) & 0x7F)
        finally:
            os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        raise OSError(code, f"mounting inside namespaces: {os.strerror(code)}")
