"""
Prepared Python interpreters, from which an item supervisor forks hook runs.

Loaded by the supervisor too. The hook's own command starts a prepared interpreter, in the hook's folder and
environment, and it pauses in the middle of its start (``platform/prepared/sitecustomize.py``). It lives in
the sandbox of its item and ends with it. A hook run forked from it is a child of the item supervisor, as any
other.
"""

from __future__ import annotations

import _socket
import os
import select
import signal
import sys

from pytest_hookharness.execution.platform import linux_ptrace
from pytest_hookharness.execution.processes.framing import ProcessRequest
from pytest_hookharness.execution.processes.stdio import HookStdio

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # Starts a process with its streams and other descriptors; returns its number, and why it did not start.
    Start = Callable[[ProcessRequest, tuple[int, ...], tuple[int, ...]], tuple[int, OSError | None]]

_EXECUTION = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MODULE = "sitecustomize.py"
_PREPARED = os.path.join(_EXECUTION, "platform", "prepared", _MODULE)
# Interpreters of one item at the same time; each needs about 10 MB.
_MOST = 8
_START_TIMEOUT = 10.0
# A fork takes milliseconds. If one takes this long, nobody knows whether the hook has begun.
_FORK_TIMEOUT = 60.0
_ANSWER = 16


class PreparedInterpreter:
    """One prepared interpreter, and the socket to it."""

    def __init__(self, pid: int, control: _socket.socket) -> None:
        self.pid = pid
        self._control = control

    def is_ready(self, streams: HookStdio) -> bool:
        """Wait until it pauses; return false if it ends instead, or printed what each start would print."""
        self._control.settimeout(_START_TIMEOUT)
        try:
            answer = self._control.recv(_ANSWER)
        except OSError:
            return False
        printed = select.poll()
        for sink in streams.sinks:
            printed.register(sink.fd, select.POLLIN)
        return bool(answer) and not printed.poll(0)

    def fork(self, streams: tuple[int, ...], *, own_session: bool) -> int:
        """
        Fork a hook run and return its process; 0 if the script changed. Raise `OSError` without an answer.
        """
        numbers = b"".join(stream.to_bytes(4, sys.byteorder) for stream in streams)
        rights = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, numbers)
        self._control.settimeout(_FORK_TIMEOUT)
        try:
            self._control.sendmsg([b"s" if own_session else b"g"], [rights])
            return int(self._control.recv(_ANSWER) or b"0")
        except ConnectionError:
            return 0

    def close(self) -> None:
        """Let it end by itself."""
        self._control.close()


class WarmInterpreters:
    """The prepared interpreters of one item supervisor; ``pids`` has those that are not yet reaped."""

    def __init__(self, start: Start) -> None:
        self.pids: set[int] = set()
        self._start = start
        # What a start depends on. The first such run is a usual one: most tests run a hook once.
        self._seen: set[tuple[object, ...]] = set()
        # ``None`` for a command that cannot be prepared.
        self._known: dict[tuple[object, ...], PreparedInterpreter | None] = {}
        # Opened before an item's namespaces may hide the file.
        self._module = os.open(_PREPARED, os.O_RDONLY)
        self._archive = -1

    def prepare(self, request: ProcessRequest) -> None:
        """Have an interpreter ready for a request that came before; its start is no part of the hook run."""
        key = _key(request)
        if key not in self._seen:
            self._seen.add(key)
            return
        known = self._known.get(key)
        if key in self._known and (known is None or known.pid in self.pids):
            return
        self._forget(key)
        living = [each for each, one in self._known.items() if one is not None]
        if len(living) >= _MOST:
            self._forget(living[0])
        self._known[key] = self._open(request)

    def start(self, request: ProcessRequest, streams: tuple[int, ...]) -> int:
        """Fork a hook run and return its process; 0 if it has to be started as usual."""
        key = _key(request)
        prepared = self._known.get(key)
        if prepared is None or prepared.pid not in self.pids:
            return 0
        pid = prepared.fork(streams, own_session=request.own_session)
        if not pid:
            self._forget(key)
        return pid

    def forget_all(self) -> None:
        """Begin anew, after all processes have ended."""
        for key in [*self._known]:
            self._forget(key)
        self._seen.clear()

    def _forget(self, key: tuple[object, ...]) -> None:
        prepared = self._known.pop(key, None)
        if prepared is not None:
            prepared.close()

    def _open(self, request: ProcessRequest) -> PreparedInterpreter | None:
        """Start an interpreter and wait until it pauses; ``None`` if it does not."""
        start = ProcessRequest(vars(request))
        start.data, start.delay, start.warm = b"", 0.0, b""
        if self._archive < 0:
            self._archive = _archive(self._module)
        ours, theirs = _socket.socketpair()
        # The kind of its streams decides how it buffers them.
        streams = HookStdio(start)
        numbers = theirs.fileno(), self._archive
        start.env = [
            *request.env,
            b"PYTHONPATH=/proc/self/fd/%d" % self._archive,
            b"HOOKHARNESS_PREPARED=%d %d %d" % (*numbers, os.getpid()),
        ]
        try:
            pid, refusal = self._start(start, streams.theirs, numbers)
        finally:
            theirs.close()
            streams.after_start()
        try:
            self.pids.add(pid)
            prepared = PreparedInterpreter(pid, ours)
            if refusal is None and prepared.is_ready(streams):
                return prepared
            os.kill(pid, signal.SIGKILL)
        finally:
            streams.close()
        ours.close()
        return None


def _archive(module: int) -> int:
    """
    Return a file in memory: a ZIP archive with the module of an open file.

    Python stores no compiled file for a module that it imports from an archive.
    """
    import zipfile  # only few runs need it

    archive = linux_ptrace.memory_file("hookharness")
    with open(archive, "wb", closefd=False) as file, zipfile.ZipFile(file, "w") as members:
        members.writestr(_MODULE, os.pread(module, os.fstat(module).st_size, 0))
    return archive


def _key(request: ProcessRequest) -> tuple[object, ...]:
    words = tuple(request.argv), tuple(request.executables), tuple(request.env)
    return *words, request.cwd, request.own_session, request.stdin, request.stdio, request.warm
