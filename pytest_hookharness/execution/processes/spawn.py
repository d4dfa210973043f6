"""
The start of a process: from a request and its streams to a process number, or a reason why not.

Loaded by the supervisor too.
"""

from __future__ import annotations

import contextlib
import errno
import os

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.forked_process import ForkedProcess
from pytest_hookharness.execution.processes.framing import TTY, ProcessRequest
from pytest_hookharness.execution.processes.warm_interpreters import WarmInterpreters
from pytest_hookharness.execution.reads.tracer import Tracer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Streams = tuple[int, int, int]
    Starter = Callable[[ProcessRequest, Streams, int], int]


class Spawner:
    """
    Starts processes in the fastest way that this interpreter offers.

    Attributes:
        passed: Descriptors that they inherit besides their streams.
        warm: Interpreters that some are forked from.
        held: A process that waits to become an observed hook; ``None`` if there is none.
        listeners: Where calls of processes wait that earlier batches left alive.
    """

    def __init__(self) -> None:
        self.passed: tuple[int, ...] = ()
        self.warm = WarmInterpreters(self._start_passing)
        self.held: ForkedProcess | None = None
        self.listeners: set[int] = set()
        self._open_pipe()
        # The last argument allows vfork; not every version takes it.
        self._start: Starter = self._by_popen
        self._fork_exec = _find_fork_exec()
        for self._last in ((True,), ()):
            if self._has_fork_exec():
                self._start = self._by_fork_exec
                return
        __import__("subprocess")  # now, because an item's namespaces may hide the library later

    def _has_fork_exec(self) -> bool:
        """Try the interpreter's private function, which may change, on no program at all."""
        words = {"argv": [b"?"], "executables": [], "env": []}
        nothing = ProcessRequest({**words, "cwd": b"/", "own_session": True})
        try:
            pid = self._by_fork_exec(nothing, (-1, -1, -1), 0)
        except (TypeError, ValueError):
            return False
        # An empty pipe means that this interpreter does not use vfork, so that its function is of no use.
        known = self._refusal(self._refusals) is not None
        os.waitpid(pid, 0)
        return known

    def _open_pipe(self) -> None:
        # One pipe for all starts. With vfork the parent continues only after the exec, so a refusal can be
        # read at once; a pipe for each hook would cost four system calls.
        self._refusals, self._refuse = os.pipe()
        os.set_blocking(self._refusals, False)

    def open_own_pipe(self) -> None:
        """Open an own pipe for refusals: the inherited one is shared with other forks."""
        os.close(self._refusals)
        os.close(self._refuse)
        self._open_pipe()

    def hold(self) -> None:
        """Fork a process that waits to become the hook of the next batch, if that is an observed one."""
        self.release()
        self.held = ForkedProcess(self._execute, Tracer())

    def release(self) -> None:
        """End the process that waits, if there is one."""
        held, self.held = self.held, None
        if held is not None:
            held.release()

    def start(
        self, request: ProcessRequest, streams: tuple[int, ...], tracer: Tracer | None = None
    ) -> tuple[int, OSError | None]:
        """
        Start a process; return its number, and why it never became the command if it did not.

        ``streams`` are its standard streams; for a terminal only the first.
        """
        on_terminal = request.stdio == request.stdin == TTY
        first, *others = streams
        theirs = (first, first, first) if on_terminal else (first, others[0], others[1])
        if on_terminal or request.terminal or tracer is not None:
            return self._by_fork(request, theirs, tracer, on_terminal=on_terminal)
        if request.warm:
            if pid := self.warm.start(request, theirs):
                return pid, None
            request.warm = b""
        # Where the host gives no session of its own, the hook still gets a group of its own: a `kill 0` in it
        # must not reach the harness.
        group = -1 if request.own_session else 0
        try:
            pid = self._start(request, theirs, group)
        except OSError as problem:
            if self._start == self._by_fork_exec:
                raise
            return 0, problem
        return pid, self._refusal(self._refusals)

    def _start_passing(
        self, request: ProcessRequest, streams: tuple[int, ...], passed: tuple[int, ...]
    ) -> tuple[int, OSError | None]:
        """Start a process that inherits these descriptors besides its streams."""
        kept, self.passed = self.passed, passed
        try:
            return self.start(request, streams)
        finally:
            self.passed = kept

    def _refusal(self, descriptor: int) -> OSError | None:
        try:
            answer = os.read(descriptor, 512)
        except BlockingIOError:
            return None
        if not answer:
            return None
        parts = answer.split(b":", 2)
        number = int(parts[1] or b"0", 16) if len(parts) == 3 else 0
        problem = OSError(number, os.strerror(number))
        if parts[-1].startswith(b"noexec"):
            problem.filename = "cwd"
        return problem

    def _by_fork_exec(self, request: ProcessRequest, streams: Streams, group: int) -> int:
        stdin, stdout, stderr = streams
        kept = tuple(sorted((self._refuse, *self.passed)))
        return int(self._fork_exec(
            request.argv, request.executables, True, kept, request.cwd, request.env,
            stdin, -1, -1, stdout, -1, stderr, self._refusals, self._refuse,
            True, request.own_session, group, None, None, None, -1, None, *self._last,
        ))  # fmt: skip

    def _by_popen(self, request: ProcessRequest, streams: Streams, group: int) -> int:
        """Start a process by the public class, which is slower."""
        import subprocess

        stdin, stdout, stderr = streams
        process = subprocess.Popen(
            request.argv, stdin=stdin, stdout=stdout, stderr=stderr, cwd=request.cwd,
            env=dict(entry.split(b"=", 1) for entry in request.env), start_new_session=request.own_session,
            process_group=None if group < 0 else group, pass_fds=self.passed,
        )  # fmt: skip
        process.returncode = 0  # it is waited for elsewhere
        return process.pid

    def _by_fork(
        self, request: ProcessRequest, streams: Streams, tracer: Tracer | None, *, on_terminal: bool
    ) -> tuple[int, OSError | None]:
        """Start a process that code in the child must set up: one with a terminal, or a traced one."""
        with contextlib.ExitStack() as stack:
            terminal = streams[0] if on_terminal else None
            if request.terminal:
                terminal = os.open(request.terminal, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
                stack.callback(os.close, terminal)
            if tracer is not None and self.held is not None and tracer is self.held.tracer:
                forked, self.held = self.held, None
            else:
                forked = ForkedProcess(self._execute, tracer, request.since, times_only=not request.observed)
            pid, refusals = forked.become(request, streams, terminal)
            stack.callback(os.close, refusals)
            return pid, self._refusal(refusals)

    def _execute(self, request: ProcessRequest, refuse: int) -> None:
        """Turn this very process into the command, or report why that fails."""
        for descriptor in self.passed:
            os.set_inheritable(descriptor, True)
        env = dict(entry.split(b"=", 1) for entry in request.env)
        answer, number = b"noexec", 0
        try:
            os.chdir(request.cwd)
            answer = b""
            for path in request.executables:
                try:
                    os.execve(path, request.argv, env)  # noqa: S606  # a hook runs any program
                except OSError as problem:
                    if problem.errno not in (errno.ENOENT, errno.ENOTDIR) or not number:
                        number = problem.errno or 0
        except OSError as problem:
            number = problem.errno or 0
        os.write(refuse, b"OSError:%x:%s" % (number, answer))


def _find_fork_exec() -> Any:
    """Return the interpreter's private function that starts processes; ``None`` if it is of no use."""
    if not system.FORK_WAITS_FOR_PROGRAM:
        return None
    # Untyped: every version declares it differently.
    try:
        import _posixsubprocess
    except ImportError:
        return None
    return _posixsubprocess.fork_exec


def explain_refusal(request: ProcessRequest, problem: OSError) -> str:
    """Explain why a command could not be started."""
    command, folder = os.fsdecode(request.argv[0]), os.fsdecode(request.cwd)
    answer = os.strerror(problem.errno or 0)
    if problem.filename == "cwd" or not os.path.isdir(folder):
        return f"its working folder {folder} cannot be entered: {answer}"
    if problem.errno != errno.ENOENT:
        return f"{command} cannot be executed: {answer}"
    if b"/" not in request.argv[0]:
        return f"{command} was not found on PATH"
    if os.path.exists(os.path.join(request.cwd, request.argv[0])):
        return f"{command} exists, but the interpreter that its first line names does not"
    return f"{command} does not exist"
