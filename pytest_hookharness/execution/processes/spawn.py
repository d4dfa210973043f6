"""
The start of a process: from a request and its streams to a process number, or a reason why not.

Loaded by the supervisor too.
"""

from __future__ import annotations

import _socket
import errno
import fcntl
import os
import signal
import termios

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.framing import TTY, ProcessRequest
from pytest_hookharness.execution.processes.held_process import HeldProcess
from pytest_hookharness.execution.processes.warm_interpreters import WarmInterpreters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from pytest_hookharness.execution.reads.tracer import Tracer

    Streams = tuple[int, int, int]
    Starter = Callable[[ProcessRequest, Streams, int], int]


class Spawner:
    """
    Starts processes in the fastest way that this interpreter offers.

    Attributes:
        passed: Descriptors that they inherit besides their streams.
        warm: Interpreters that some are forked from.
        held: A process that waits to become an observed hook; ``None`` if there is none.
    """

    def __init__(self) -> None:
        self.passed: tuple[int, ...] = ()
        self.warm = WarmInterpreters(self._start_passing)
        self.held: HeldProcess | None = None
        self._open_pipe()
        # The last argument allows vfork; not every version takes it.
        self._start: Starter = self._by_popen
        self._fork_exec = _find_fork_exec()
        for self._last in ((True,), ()):
            if self._has_fork_exec():
                self._start = self._by_fork_exec
                return
        __import__("subprocess")  # now, for an item's namespaces may hide the library later

    def _has_fork_exec(self) -> bool:
        """Try the interpreter's private function, which may change, on no program at all."""
        times = 0.0, 0.0, False, 0.0, 0.0, "", 0.0
        rest = (), "", 0.0, 0.0, 0, b"", False, 0.0, 0, (), (), b""
        nothing = ProcessRequest(([b"?"], [], b"/", [], b"", True, None, 0.0, "", "", True, *times, *rest))
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
        self.held = HeldProcess(execute)

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
        if tracer is not None and self.held is not None and tracer is self.held.tracer:
            return self._by_held(self.held, request, theirs)
        if on_terminal or request.terminal or tracer is not None:
            return self._by_fork(request, theirs, tracer, terminal=on_terminal or bool(request.terminal))
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

    def _by_held(
        self, held: HeldProcess, request: ProcessRequest, streams: Streams
    ) -> tuple[int, OSError | None]:
        self.held = None
        pid, refusals = held.become(request, streams)
        try:
            return pid, self._refusal(refusals)
        finally:
            os.close(refusals)

    def _by_fork(
        self, request: ProcessRequest, streams: Streams, tracer: Tracer | None, *, terminal: bool
    ) -> tuple[int, OSError | None]:
        """
        Start a process that code in the child must set up: one with a terminal, or an observed one.
        """
        refusals, refuse = os.pipe()
        gate = _socket.socketpair() if tracer is not None else None
        pid = os.fork()
        if pid:
            os.close(refuse)
            try:
                if tracer is not None and gate is not None:
                    gate[1].close()
                    tracer.let_in(pid, gate[0], request.since, times_only=not request.observed)
                    tracer.move_clock(pid, request.ahead, request.shifts, request.chosen)
                    tracer.await_program(pid)
                return pid, self._refusal(refusals)
            finally:
                os.close(refusals)
        try:
            for number in (signal.SIGPIPE, signal.SIGXFSZ):
                signal.signal(number, signal.SIG_DFL)
            if terminal:
                _take_terminal(request, streams[0])
            elif request.own_session:
                os.setsid()
            else:
                os.setpgid(0, 0)
            for descriptor, stream in enumerate(streams):
                os.dup2(stream, descriptor)
            for descriptor in self.passed:
                os.set_inheritable(descriptor, True)
            if tracer is not None and gate is not None:
                gate[0].close()
                tracer.enter(gate[1], times_only=not request.observed)
            execute(request, refuse)
        finally:
            os._exit(255)


def _take_terminal(request: ProcessRequest, stream: int) -> None:
    """Give this process a session and a controlling terminal."""
    # A process that a host starts on its own terminal leads no session, and its end sends nobody SIGHUP.
    signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP,))
    os.setsid()
    terminal = os.open(request.terminal, os.O_RDWR) if request.terminal else stream
    fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)


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


def execute(request: ProcessRequest, refuse: int) -> None:
    """Turn this very process into the command, or report why that fails."""
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
