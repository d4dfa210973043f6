"""
Linux: a vDSO by which a program reads the time by system calls, so that these can be observed.

The functions of the vDSO read the clock in memory that is shared with the kernel. In the memory of one
observed program they are replaced by system calls. A reading of the monotonic clock has a mark then, in bits
that the kernel ignores: Python makes a thousand of them when it starts, so a filter lets those pass.
"""

from __future__ import annotations

import ctypes
import functools
import os
import re
import struct

from pytest_hookharness.execution.platform import linux_ptrace
from pytest_hookharness.execution.platform.linux import libc

# In the upper half of the first argument, of which the kernel takes the lower half.
MARK = 0x5CA1AB1E
_AT, _POKE, _WORD = 33, 5, 8
# Kinds of a program header, of two entries of the dynamic section, and of a symbol; what is used of the first
# and the last: kind, place and length, and name, kind, place and length.
_DYNAMIC, _STRINGS, _SYMBOLS, _FUNCTION = 2, 5, 6, 2
_HEADER, _SYMBOL = struct.Struct("=I12xQ8xQ"), struct.Struct("=IB3xQQ")
_LARGEST = 1 << 16
# Returns "not supported", so the C library makes the call. The function does more than the call of its name.
_UNKNOWN = b"\xb8" + struct.pack("=i", -38) + b"\xc3"


def _call(number: int) -> bytes:
    # mov eax, number; syscall; ret
    return b"\xb8" + struct.pack("=i", number) + b"\x0f\x05\xc3"


# cmp edi, 1; jne over the next; mov rdi, mark and 1
_MARKED = b"\x83\xff\x01\x75\x0a\x48\xbf" + struct.pack("=Q", MARK << 32 | 1)
_CODE = {
    "clock_gettime": _MARKED + _call(228), "gettimeofday": _call(96), "time": _call(201),
    "clock_getres": _call(229), "getcpu": _call(309), "getrandom": _UNKNOWN,
}  # fmt: skip
# All others are left as they are, such as that which enters an enclave.
_TELLING = re.compile("clock|time|cpu|random")


@functools.cache
def _words() -> tuple[tuple[int, int], ...]:
    """Return new words of the vDSO after their places; none if it may tell a time by an unknown function."""
    if os.uname().machine != "x86_64" or not hasattr(libc, "getauxval"):
        return ()
    libc.getauxval.restype = ctypes.c_ulong
    base = libc.getauxval(_AT)
    found: dict[int, int] = {}
    for name, place, size in _functions(base) if base else ():
        code = _CODE.get(name.removeprefix("__vdso_"), b"")
        if not code and _TELLING.search(name) is None:
            continue
        code += bytes(-len(code) % _WORD)
        if not code or len(code) > size or place % _WORD:
            return ()
        for offset in range(0, len(code), _WORD):
            (found[place + offset],) = struct.unpack_from("=Q", code, offset)
    return tuple(found.items())


def _functions(base: int) -> list[tuple[str, int, int]]:
    """Return name, place and size of each function that the vDSO of this process has."""
    (headers,) = struct.unpack("=Q", ctypes.string_at(base + 32, 8))
    size, number = struct.unpack("=HH", ctypes.string_at(base + 54, 4))
    table: dict[int, int] = {}
    for each in range(number):
        header = ctypes.string_at(base + headers + each * size, _HEADER.size)
        kind, address, length = _HEADER.unpack(header)
        if kind == _DYNAMIC:
            table = dict(struct.iter_unpack("=QQ", ctypes.string_at(base + address, length)))
    symbols, strings = table.get(_SYMBOLS, 0), table.get(_STRINGS, 0)
    # One follows the other.
    if not 0 < symbols < strings < _LARGEST:
        return []
    entries = ctypes.string_at(base + symbols, (strings - symbols) // _SYMBOL.size * _SYMBOL.size)
    return [
        (ctypes.string_at(base + strings + name).decode(), place, length)
        for name, kind, place, length in _SYMBOL.iter_unpack(entries)
        if kind & 0xF == _FUNCTION
    ]


def replace_functions(task: int, base: int) -> bool:
    """Let all functions of the vDSO of a stopped task make system calls; return whether they do."""
    words = _words()
    for place, word in words:
        linux_ptrace.ptrace(_POKE, task, base + place, word)
    return bool(words)
