"""
This module is concerned with framing: how values cross a socket between pytest and its small processes.

Middle floor: execution. Loaded by the supervisor too, so it imports almost nothing.
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
