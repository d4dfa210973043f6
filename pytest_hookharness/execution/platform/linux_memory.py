"""Linux: the memory of other processes, where the system lets this process reach it."""

from __future__ import annotations

import ctypes
import errno
import struct

from pytest_hookharness.execution.platform.linux import libc

LONGEST = 1 << 18  # bytes that one read returns at most
_PAGE, _MAX_PATH = 4096, 4096


_buffer = ctypes.create_string_buffer(LONGEST)
# Two pieces of memory, each an address and a length: here and there.
_pieces, _PIECES = ctypes.create_string_buffer(32), struct.Struct("=QQQQ")
_here_at, _there_at = (ctypes.c_void_p(ctypes.addressof(_pieces) + place) for place in (0, 16))
_buffer_at = ctypes.addressof(_buffer)


def read_bytes(task: int, address: int, size: int) -> bytes:
    """Return up to ``size`` bytes at an address of a task; raise `PermissionError` if that is forbidden."""
    size = min(size, LONGEST)
    _PIECES.pack_into(_pieces, 0, _buffer_at, size, address, size)
    done: int = libc.process_vm_readv(task, _here_at, 1, _there_at, 1, 0)
    if done >= 0:
        return ctypes.string_at(_buffer, done)
    return _read_file(task, address, size) if ctypes.get_errno() in (errno.EPERM, errno.ENOSYS) else b""


def _read_file(task: int, address: int, size: int) -> bytes:
    """Read the memory as a file, which is slower, but allowed in some sandboxes that forbid the call."""
    try:
        with open(f"/proc/{task}/mem", "rb", buffering=0) as memory:
            memory.seek(address)
            return memory.read(size)
    except PermissionError as problem:
        raise PermissionError(f"the memory of process {task} cannot be read") from problem
    except (OSError, ValueError, OverflowError):
        return b""


def write_bytes(task: int, address: int, data: bytes) -> bool:
    """Write at an address of a task; return whether all was written."""
    ctypes.memmove(_buffer, data, len(data))
    _PIECES.pack_into(_pieces, 0, _buffer_at, len(data), address, len(data))
    done: int = libc.process_vm_writev(task, _here_at, 1, _there_at, 1, 0)
    if done >= 0 or ctypes.get_errno() not in (errno.EPERM, errno.ENOSYS):
        return done == len(data)
    try:
        with open(f"/proc/{task}/mem", "r+b", buffering=0) as memory:
            memory.seek(address)
            return memory.write(data) == len(data)
    except (OSError, ValueError, OverflowError):
        return False


def read_text(task: int, address: int) -> bytes:
    """Return the text at an address of a task, without the zero that ends it."""
    text = b""
    while len(text) < _MAX_PATH:
        # Not beyond the page, because the next one may not exist.
        data = read_bytes(task, address, min(256, _PAGE - address % _PAGE))
        piece, end, _ = data.partition(b"\0")
        text += piece
        if end or not data:
            return text
        address += len(data)
    return text
