"""
A process that is traced already, and waits until it is told which observed hook it becomes.

Loaded by the supervisor too. To fork, to trace and to filter a process takes as long as a short hook run, so
it is done while pytest saves the files. No hook runs meanwhile, and the process has the number that the hook
would get.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket

from pytest_hookharness.execution.processes import framing
from pytest_hookharness.execution.processes.framing import TTY, ProcessRequest
from pytest_hookharness.execution.reads.tracer import Tracer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    # Turns this very process into a command, or reports at a descriptor why that fails.
    Execute = Callable[[ProcessRequest, int], None]


class HeldProcess:
    """A process that waits, and the tracer that traces it."""

    def __init__(self, execute: Execute) -> None:
        """Fork it; raise `OSError` if the system refuses."""
        self.tracer = Tracer()
        self._orders, orders = socket.socketpair()
        ours, gate = socket.socketpair()
        self._refusals, refuse = os.pipe()
        self.tracer.keep_together()
        try:
            self._pid = os.fork()
        except OSError:
            self.tracer.part()
            raise
        if self._pid == 0:
            try:
                self._orders.close()
                ours.close()
                self.tracer.enter(gate, times_only=False)
                _obey(orders, refuse, execute)
            finally:
                os._exit(255)
        orders.close()
        gate.close()
        os.close(refuse)
        self.tracer.let_in(self._pid, ours)

    def fits(self, request: ProcessRequest) -> bool:
        """Return whether it can become a hook; its calls are seen by now, so it opens no terminal."""
        has_terminal = bool(request.terminal) or TTY in (request.stdin, request.stdio)
        return request.observed and not has_terminal

    def become(self, request: ProcessRequest, streams: tuple[int, int, int]) -> tuple[int, int]:
        """Let it become a hook; return its number, and the descriptor where it reports if it could not."""
        self.tracer.move_clock(self._pid, request.ahead, request.shifts, request.chosen)
        with self._orders as orders:
            socket.send_fds(orders, [b"s"], streams)
            framing.send(orders, tuple({**vars(request), "data": b""}.values()))
        self.tracer.await_program(self._pid)
        return self._pid, self._refusals

    def release(self) -> None:
        """End it, for something else is run."""
        self._orders.close()
        os.close(self._refusals)
        self.tracer.part()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            while os.WIFSTOPPED(os.waitpid(self._pid, 0)[1]):
                continue


def _obey(orders: socket.socket, refuse: int, execute: Execute) -> None:
    """Wait for the hook that this process becomes."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    _, streams, _, _ = socket.recv_fds(orders, 1, 3)
    request = ProcessRequest(framing.receive(orders))
    if request.own_session:
        os.setsid()
    else:
        os.setpgid(0, 0)
    for descriptor, stream in enumerate(streams):
        os.dup2(stream, descriptor)
        os.close(stream)
    execute(request, refuse)
