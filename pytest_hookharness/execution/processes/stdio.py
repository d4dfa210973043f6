"""
The standard streams between the harness and one hook.

Loaded by the supervisor too.
"""

from __future__ import annotations

import _socket
import fcntl
import os
import struct
import termios

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes.framing import PIPE, TTY, ProcessRequest

_SIOCOUTQ = termios.TIOCOUTQ
_SAFE_SIZE = 4096  # bytes that a new pipe takes at once under every limit
_READ = 1 << 16


class InputWriter:
    """Our end of a hook's standard input."""

    def __init__(self, end: int | _socket.socket, request: ProcessRequest) -> None:
        self._socket = end if isinstance(end, _socket.socket) else None
        self.fd = fd = end if isinstance(end, int) else end.fileno()
        self.taken = 0
        self._kind = request.stdin
        self._data = memoryview(request.data)
        self._close = request.close
        self._chunk = request.chunk or len(request.data)
        self._delay = request.delay
        self._child_end = -1
        self._reader_gone = False
        self.due: float | None = None
        if len(request.data) > _SAFE_SIZE or request.delay or request.stdin == TTY:
            os.set_blocking(fd, False)

    @property
    def waiting(self) -> bool:
        """Whether there is more to write."""
        return not self._reader_gone and self.taken < len(self._data)

    def feed(self, now: float) -> bool:
        """Write what can be written; return true if the rest must wait until the hook has read."""
        while self.waiting:
            if self.due is not None and now < self.due:
                return False
            end = min(self.taken - self.taken % self._chunk + self._chunk, len(self._data))
            try:
                self.taken += os.write(self.fd, self._data[self.taken : end])
            except BlockingIOError:
                return True
            except OSError:
                # What was accepted so far is all there is to report.
                self._reader_gone = True
                break
            if self.taken < end:
                return True
            if self._delay:
                self.due = now + self._delay
        self.due = None
        self.finish()
        return False

    def finish(self) -> None:
        """Signal the end of the input, if the host does so."""
        if self.fd < 0 or not self._close:
            return
        try:
            if self._socket is not None:
                self._socket.shutdown(_socket.SHUT_WR)  # not closed: its queue still shows how much was read
            elif self._kind == PIPE:
                os.close(self.fd)
                self.fd = -1
            else:
                os.write(self.fd, b"\x04")
        except OSError:
            self._reader_gone = True
        self._close = False

    def keep_child_end(self, reading_end: int) -> bool:
        """Keep the hook's end of a pipe, which shows unread input; return false if that is unsafe."""
        # Not while we still write: we could not notice any more that the last reader is gone.
        if self._kind != PIPE or self.waiting or not self.taken:
            return False
        self._child_end = reading_end
        return True

    def bytes_read(self) -> int | None:
        """Return how much the hook has read; ``None`` if that is unknown."""
        if self.taken == 0:
            return 0
        if self._kind == PIPE and self._child_end >= 0:
            (left,) = struct.unpack("i", fcntl.ioctl(self._child_end, termios.FIONREAD, b"\0\0\0\0"))
            return self.taken - int(left)
        if self._socket is None or self.fd < 0:
            return None
        try:
            # A reader that closes with bytes unread resets the connection. Without a reset, an empty queue
            # means that all of it was read.
            if self._socket.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR) != 0:
                return None
            (left,) = struct.unpack("i", fcntl.ioctl(self.fd, _SIOCOUTQ, b"\0\0\0\0"))
        except OSError:
            return None
        return self.taken if left == 0 else None

    def close(self) -> None:
        """Close our ends."""
        if self._socket is not None:
            self._socket.close()
        elif self.fd >= 0:
            os.close(self.fd)
        if self._child_end >= 0:
            os.close(self._child_end)
        self.fd = self._child_end = -1


class OutputReader:
    """Our end of one output stream of a hook: always drained, kept up to a limit."""

    def __init__(self, fd: int, limit: int) -> None:
        self.fd = fd
        self.total = 0
        self._limit = limit
        self._left = limit
        self._kept: list[bytes] = []

    def take(self) -> bool:
        """Read once; return false at the end of the stream. Call it only when there is something to read."""
        try:
            data = os.read(self.fd, _READ)
        except BlockingIOError:
            return True
        except OSError:  # a terminal or a socket whose other side is gone
            data = b""
        if not data:
            self.close()
            return False
        self.total += len(data)
        if self._left > 0:
            self._kept.append(data[: self._left])
            self._left -= len(data)
        return True

    @property
    def data(self) -> bytes:
        """The bytes that were kept."""
        return b"".join(self._kept)

    def close(self) -> None:
        """Close our end."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


class HookStdio:
    """The three streams of one hook, and the hook's ends until it has them."""

    def __init__(self, request: ProcessRequest) -> None:
        if request.stdio == request.stdin == TTY:
            in_ours: int | _socket.socket
            in_ours, theirs = open_terminal()
            out_ours, err_ours = os.dup(in_ours), -1
            self.theirs: tuple[int, ...] = (theirs,)
        else:
            in_ours, in_theirs = _open_input(request.stdin)
            out_ours, out_theirs = _open_output(request.stdio)
            err_ours, err_theirs = _open_output(request.stdio)
            self.theirs = in_theirs, out_theirs, err_theirs
        self.source = InputWriter(in_ours, request)
        limit = request.output_limit
        self.sinks = OutputReader(out_ours, limit), OutputReader(err_ours, limit)
        # Both ends of a pipe have one name, so it can be looked up later. The hook's end of a socket has
        # another name than ours, so it must be recorded now.
        kinds = request.stdin, request.stdio, request.stdio
        self.names = () if {*kinds} == {PIPE} else tuple(map(_name, self.theirs, kinds))

    def after_start(self) -> None:
        """Close the hook's end of the input, which the hook has now."""
        if not self.source.keep_child_end(self.theirs[0]):
            os.close(self.theirs[0])
        # Its ends of the output stay open until the hook has ended. Otherwise every stream that it closes on
        # its way out would wake us for nothing, and delay its end.
        self.theirs = self.theirs[1:]

    def close_child_ends(self) -> None:
        """Close the hook's ends of the output, so that ours report when no process has them any more."""
        for descriptor in self.theirs:
            os.close(descriptor)
        self.theirs = ()

    def stream_names(self) -> dict[str, int]:
        """Return the names of the files behind the hook's streams, with the number of each stream."""
        if self.names:
            return {name: number for number, name in enumerate(self.names)}
        our_end = self.source.fd, self.sinks[0].fd, self.sinks[1].fd
        return {_name(fd, PIPE): number for number, fd in enumerate(our_end) if fd >= 0}

    def names_in_use(self) -> list[str]:
        """Return the names of those streams whose other end is open here, so that nothing else has them."""
        if not self.names:
            return [name for name in self.stream_names() if name]
        # For a socket, only the end of its data shows that the hook's end is closed.
        return [name for name, sink in zip(self.names[1:], self.sinks, strict=False) if sink.fd >= 0]

    def close(self) -> None:
        """Close everything."""
        self.close_child_ends()
        self.source.close()
        for sink in self.sinks:
            sink.close()


def _open_input(kind: str) -> tuple[int | _socket.socket, int]:
    """Open a stream that we write to; return our end and the hook's."""
    if kind == TTY:
        return open_terminal()
    if kind == PIPE:
        theirs, our_end = os.pipe()
        return our_end, theirs
    # The bare type: the class in ``socket`` costs several times as much, three times for each hook.
    end, their_end = _socket.socketpair()
    return end, their_end.detach()


def _open_output(kind: str) -> tuple[int, int]:
    """Open a stream that we read from; return our end and the hook's."""
    if kind == PIPE:
        return os.pipe()
    our_end, theirs = _socket.socketpair()
    return our_end.detach(), theirs.detach()


def open_terminal() -> tuple[int, int]:
    """Open a terminal without echo that keeps line ends, so that what is read is what was written."""
    our_end, theirs = os.openpty()
    modes = termios.tcgetattr(theirs)
    modes[1] &= ~termios.ONLCR
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(theirs, termios.TCSANOW, modes)
    return our_end, theirs


def _name(descriptor: int, stdio: str) -> str:
    if stdio == TTY:
        return os.ttyname(descriptor)
    return system.stream_name(descriptor, socket=stdio != PIPE)
