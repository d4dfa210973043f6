"""
Orders: a launch in the form in which the small processes handle it.

Loaded by the supervisor too, so it imports almost nothing.

Framing: how values cross a socket between pytest and its small processes.

Loaded by the supervisor too, so it imports almost nothing.

Translation: launches into orders, reports into runs.

Only the pytest process loads it.
"""

from __future__ import annotations

import marshal
import socket
import struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_HEAD = struct.Struct("<I")
_PIECE = 1 << 16  # more would be fetched from the kernel, and returned to it, for every value


def send(peer: socket.socket, value: Any) -> None:
    """
    Write one value.
    """
    # marshal, because both ends are the same interpreter and it is several times faster than pickle or JSON.
    body = marshal.dumps(value)
    peer.sendall(_HEAD.pack(len(body)) + body)


def receive(peer: socket.socket) -> Any:
    """
    Read one value, and nothing of the next; ``EOFError`` if the other side is gone, also in the middle of it.
    """
    (length,) = _HEAD.unpack(_read(peer, _HEAD.size))
    return marshal.loads(_read(peer, length))  # written by ourselves


def _read(peer: socket.socket, size: int) -> bytes | bytearray:
    """
    Read so many bytes; ``EOFError`` if there will not be as many.
    """
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
SOCKET, PIPE, TTY = "socket", "pipe", "tty"
CHILD, GROUP, TREE = "child", "group", "tree"


class ProcessRequest:
    """
    One launch, encoded: words, folder and environment are bytes already.
    """

    __slots__ = (
        "argv",
        "chunk",
        "close",
        "close_wait",
        "cwd",
        "data",
        "delay",
        "env",
        "executables",
        "grace",
        "hook_timeout",
        "limit",
        "linger",
        "output_limit",
        "own_session",
        "pipe_wait",
        "scope",
        "signals",
        "stdin",
        "stdio",
        "terminal",
    )  # fmt: skip

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
    pipe_wait: float | None
    linger: float
    signals: tuple[int, ...]
    scope: str
    grace: float
    close_wait: float | None
    output_limit: int
    terminal: bytes

    def __init__(self, values: tuple[Any, ...]) -> None:
        (
            self.argv, self.executables, self.cwd, self.env,
            self.data, self.close, self.chunk, self.delay, self.stdin,
            self.stdio, self.own_session,
            self.limit, self.hook_timeout, self.pipe_wait, self.linger,
            self.signals, self.scope, self.grace, self.close_wait, self.output_limit,
            self.terminal,
        ) = values  # fmt: skip
