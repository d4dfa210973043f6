"""
A process that waits for the request to become a hook: one with a terminal, or a traced one.

Loaded by the supervisor too. Forking, tracing and filtering a process takes as long as a short hook run, so
for an observed hook it is done while pytest saves the files. No hook runs meanwhile, so the process has the
number that the hook would get.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import socket
import termios

from pytest_hookharness.execution.processes import framing
from pytest_hookharness.execution.processes.framing import ProcessRequest

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from pytest_hookharness.execution.reads.tracer import Tracer

    # Turns this very process into a command, or reports at a descriptor why that fails.
    Execute = Callable[[ProcessRequest, int], None]


class ForkedProcess:
    """A process that waits, and the tracer that traces it, if one does."""

    def __init__(
        self, execute: Execute, tracer: Tracer | None, since: int = 0, *, times_only: bool = False
    ) -> None:
        """
        Fork the process.

        Args:
            since, times_only: As those of `Tracer.let_in`.

        Raises:
            OSError: The system refuses.
        """
        self.tracer = tracer
        self._orders, orders = socket.socketpair()
        ours, gate = socket.socketpair()
        self._refusals, refuse = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                self._orders.close()
                ours.close()
                if tracer is not None:
                    tracer.enter(gate, times_only=times_only)
                _obey(orders, refuse, execute)
            finally:
                os._exit(255)
        orders.close()
        gate.close()
        os.close(refuse)
        if tracer is None:
            ours.close()
        else:
            with self._released_on_error():
                tracer.let_in(self._pid, ours, since, times_only=times_only)

    def become(
        self, request: ProcessRequest, streams: tuple[int, int, int], terminal: int | None
    ) -> tuple[int, int]:
        """
        Turn the process into a hook; return its number, and the descriptor by which it reports a failure.
        """
        with self._released_on_error():
            if self.tracer is not None:
                self.tracer.move_clock(self._pid, request.ahead, request.shifts, request.chosen)
            with self._orders as orders:
                socket.send_fds(orders, [b"s"], streams if terminal is None else (*streams, terminal))
                framing.send(orders, {**vars(request), "data": b""})
            if self.tracer is not None:
                self.tracer.await_program(self._pid, self._refusals)
        return self._pid, self._refusals

    @contextlib.contextmanager
    def _released_on_error(self) -> Generator[None]:
        try:
            yield
        except BaseException:
            self.release()
            raise

    def release(self) -> None:
        """End the process, because another program is run."""
        self._orders.close()
        os.close(self._refusals)
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self._pid, signal.SIGKILL)
            while os.WIFSTOPPED(os.waitpid(self._pid, 0)[1]):
                continue
        if self.tracer is not None:
            self.tracer.close()


def _obey(orders: socket.socket, refuse: int, execute: Execute) -> None:
    """Wait for the hook that this process becomes."""
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    _, descriptors, _, _ = socket.recv_fds(orders, 1, 4)
    request = ProcessRequest(framing.receive(orders))
    streams, terminals = descriptors[:3], descriptors[3:]
    if terminals:
        # A process that a host starts on its own terminal leads no session, and its end sends nobody SIGHUP.
        signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGHUP,))
    if terminals or request.own_session:
        os.setsid()
    else:
        os.setpgid(0, 0)
    for terminal in terminals:
        fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)
    for place, stream in enumerate(streams):
        os.dup2(stream, place)
    for descriptor in descriptors:
        os.close(descriptor)
    execute(request, refuse)
