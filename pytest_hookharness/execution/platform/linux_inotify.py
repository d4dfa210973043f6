"""Linux: inotify, which tells which paths below some folders were touched since the last look."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

from pytest_hookharness.execution.platform.linux import libc
from pytest_hookharness.execution.platform.protocol import TouchedPaths, Watch

_ACCESS_OPEN, _MODIFY, _ATTRIB, _CLOSE_WRITE = 0x20, 0x2, 0x4, 0x8
_MOVED_FROM, _MOVED_TO, _CREATE, _DELETE = 0x40, 0x80, 0x100, 0x200
_DELETE_SELF, _MOVE_SELF = 0x400, 0x800
_UNMOUNT, _OVERFLOW, _IGNORED, _ISDIR = 0x2000, 0x4000, 0x8000, 0x40000000
_ONLYDIR, _DONT_FOLLOW = 0x1000000, 0x2000000

# Reading is not among them, or our own reading would make everything look touched.
_WRITES = _MODIFY | _ATTRIB | _CLOSE_WRITE | _MOVED_FROM | _MOVED_TO | _CREATE | _DELETE
_FOLDER = _WRITES | _DELETE_SELF | _MOVE_SELF | _ONLYDIR | _DONT_FOLLOW
_FILE = _ACCESS_OPEN | _DELETE_SELF | _MOVE_SELF | _DONT_FOLLOW
_GONE = _DELETE_SELF | _MOVE_SELF | _UNMOUNT | _IGNORED
# Every way of writing a file ends with exactly one of these.
_WRITTEN = _CLOSE_WRITE | _MOVED_TO
_RENEWED = _CREATE | _DELETE | _MOVED_FROM | _MOVED_TO
_HEAD = struct.Struct("iIII")
_BUFFER = 1 << 18
_LARGEST_EVENT = _HEAD.size + 256


class InotifyWatch:
    """A watch on folders for writes, and on single files for being opened."""

    def __init__(self) -> None:
        if not hasattr(libc, "inotify_init1"):
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self._add = libc.inotify_add_watch
        self._remove = libc.inotify_rm_watch
        self._fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise _last_error("inotify_init1")
        self._folders: dict[int, str] = {}
        self._files: dict[int, str] = {}

    def add_folder(self, path: str) -> None:
        self._folders[self._begin(path, _FOLDER)] = path

    def add_file(self, path: str) -> bool:
        if path in self._files.values():
            return True
        try:
            self._files[self._begin(path, _FILE)] = path
        except FileNotFoundError:
            return False
        return True

    def forget_below(self, path: str) -> None:
        inside = path + "/"
        for number in [n for n, at in self._folders.items() if at == path or at.startswith(inside)]:
            del self._folders[number]
            # The kernel has ended it already if the folder was removed; that error is ignored.
            self._remove(self._fd, number)

    def follow(self, before: str, after: str) -> None:
        for number, at in self._folders.items():
            if at == before or at.startswith(before + "/"):
                self._folders[number] = after + at[len(before) :]

    def look(self) -> TouchedPaths:
        touched = TouchedPaths()
        while True:
            try:
                data = os.read(self._fd, _BUFFER)
            except BlockingIOError:
                return touched
            position = 0
            while position < len(data):
                number, mask, _, length = _HEAD.unpack_from(data, position)
                position += _HEAD.size
                name = data[position : position + length].rstrip(b"\0")
                position += length
                self._note(touched, number, mask, name)
            if len(data) < _BUFFER - _LARGEST_EVENT:
                # There was room for one more.
                return touched

    def _note(self, touched: TouchedPaths, number: int, mask: int, name: bytes) -> None:
        if mask & (_OVERFLOW | _UNMOUNT):
            touched.lost = True
        file = self._files.get(number)
        if file is not None:
            touched.opened.add(file)
            if mask & _GONE:
                del self._files[number]
                if not mask & _IGNORED:
                    self._remove(self._fd, number)
            return
        folder = self._folders.get(number)
        if folder is None:
            return
        if mask & _IGNORED:
            del self._folders[number]
            return
        path = f"{folder}/{os.fsdecode(name)}" if name else folder
        touched.paths.add(path)
        if mask & _WRITTEN:
            touched.written[path] = touched.written.get(path, 0) + 1
        if mask & _DELETE:
            touched.removed.add(path)
        if mask & (_DELETE_SELF | _MOVE_SELF) or (mask & _ISDIR and mask & _RENEWED):
            touched.folders.add(path)

    def forget_all(self) -> None:
        for number in (*self._folders, *self._files):
            self._remove(self._fd, number)
        self._folders.clear()
        self._files.clear()
        self.look()

    def _begin(self, path: str, mask: int) -> int:
        number: int = self._add(self._fd, os.fsencode(path), mask)
        if number < 0:
            raise _last_error(path)
        return number

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class InotifyPool:
    """
    Watches that are used one after the other.

    Making one is quick, but closing one takes the kernel milliseconds.
    """

    def __init__(self) -> None:
        self._spare: list[Watch] = []

    def take(self) -> Watch:
        try:
            return self._spare.pop()
        except IndexError:
            return InotifyWatch()

    def give_back(self, watch: Watch) -> None:
        watch.forget_all()
        self._spare.append(watch)

    def close(self) -> None:
        while self._spare:
            self._spare.pop().close()


def _last_error(what: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), what)
