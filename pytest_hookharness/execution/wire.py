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
    Read one value; ``EOFError`` if the other side is gone, also in the middle of a value.
    """
    data = peer.recv(_PIECE)
    while len(data) < _HEAD.size:
        data += _more(peer)
    (length,) = _HEAD.unpack_from(data)
    end = _HEAD.size + length
    if len(data) == end:
        return marshal.loads(memoryview(data)[_HEAD.size :])  # written by ourselves
    whole = bytearray(data)
    while len(whole) < end:
        whole += _more(peer)
    return marshal.loads(memoryview(whole)[_HEAD.size : end])


def _more(peer: socket.socket) -> bytes:
    """
    Read a further piece; ``EOFError`` if there will be none.
    """
    data = peer.recv(_PIECE)
    if not data:
        raise EOFError("the other side is gone")
    return data
