"""
Framing: how values cross the socket between pytest and its small processes.

Loaded by the supervisor too, so it imports almost nothing.
"""

from __future__ import annotations

import marshal
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEAD = struct.Struct("<I")
_PIECE = 1 << 16  # a larger buffer would be mapped and unmapped for every value


def send(peer: socket.socket, value: Any) -> None:
    """Send one value."""
    # marshal, because both ends are the same interpreter and it is several times faster than pickle or JSON.
    body = marshal.dumps(value)
    peer.sendall(_HEAD.pack(len(body)) + body)


def receive(peer: socket.socket) -> Any:
    """Read one value and nothing of the next; `EOFError` if the other side is gone, perhaps in the middle."""
    (length,) = _HEAD.unpack(_read(peer, _HEAD.size))
    return marshal.loads(_read(peer, length))  # both ends are ours


def _read(peer: socket.socket, size: int) -> bytes | bytearray:
    """Read exactly ``size`` bytes; if the stream ends before, that is an ``EOFError``."""
    data = peer.recv(min(size, _PIECE))
    if len(data) == size:
        return data
    whole = bytearray(data)
    while len(whole) < size:
        if not data:
            raise EOFError("the other side is gone")
        data = peer.recv(min(size - len(whole), _PIECE))
        whole += data
    return whole


# What the item supervisor reports of a batch: whether its processes only wait or need a CPU.
WAITS, WORKS = "waits", "works"
# What pytest asks the supervisor for: an item supervisor that uses process groups only, or any, or the best
# one without network, which may have been prepared.
PLAIN, ANY, BEST = b"g", b"o", b"b"
# What pytest asks an item supervisor for besides a batch: a terminal, whose two ends follow the answer.
TERMINAL = "terminal"
# Or for namespaces in which nothing has happened, with the same view of the files.
AGAIN = "again"
# Or to prepare for an observed hook; nothing is answered.
OBSERVED = "observed"
# What an item supervisor in namespaces says last: all processes in them but itself are dead.
ENDED = "ended"
PIPE, TTY = "pipe", "tty"  # the streams that differ from sockets
MOST_EXTENDED = 4.0  # times as long as it says a hook timeout may become on a busy machine
CHILD, GROUP, TREE = "child", "group", "tree"  # what a host signals
AT_ONCE, ON_REQUEST = "at once", "on request"  # when a host goes on without waiting for the end


class ProcessRequest:
    """One `ProcessSpec`, encoded: words, folder and environment are bytes already."""

    argv: list[bytes]
    executables: list[bytes]
    cwd: bytes
    env: list[bytes]
    data: bytes
    close: bool
    chunk: int | None
    delay: float
    stdin: str
    stdio: str
    own_session: bool
    limit: float
    hook_timeout: float
    exact: bool
    pipe_wait: float | None
    linger: float | None
    detach: str
    background: float
    signals: tuple[int, ...]
    scope: str
    grace: float
    close_wait: float | None
    output_limit: int
    terminal: bytes
    observed: bool
    ahead: float
    since: int
    shifts: tuple[tuple[int, float], ...]
    chosen: tuple[int, ...]
    warm: bytes

    def __init__(self, values: dict[str, Any]) -> None:
        vars(self).update(values)

    @property
    def traced(self) -> bool:
        """Whether some of its calls wait for an answer."""
        return self.observed or bool(self.ahead)
