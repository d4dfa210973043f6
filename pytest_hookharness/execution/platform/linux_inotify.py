"""Linux: inotify, which tells which paths below some folders were touched since the last look."""

from __future__ import annotations

import errno
import os
import struct
from dataclasses import field

from pytest_hookharness.execution.platform.linux import last_error, libc
from pytest_hookharness.model.fast_dataclass import dataclass

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


@dataclass(slots=True)
class TouchedPaths:
    """
    What happened to watched files since the last look.

    Attributes:
        paths: Paths that were written, made, removed, renamed or got another mode.
        folders: Those of them whose content may differ, so that it must be listed anew.
        opened: Single files that were opened, moved or removed.
        removed: Paths that were removed, which may have been names of a file that has others.
        written: How often each file was written or moved into place. Seldom too low: the system merges two
            equal events that follow each other directly.
        lost: The system could not keep up; anything may have been touched.
    """

    paths: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    written: dict[str, int] = field(default_factory=dict)
    lost: bool = False

    def add(self, later: TouchedPaths) -> None:
        """Add what happened afterwards."""
        # Mostly, nothing happened.
        if later.paths:
            self.paths |= later.paths
            self.folders |= later.folders
            self.removed |= later.removed
            for path, times in later.written.items():
                self.written[path] = self.written.get(path, 0) + times
        self.opened |= later.opened
        self.lost = self.lost or later.lost


class InotifyWatch:
    """A watch on folders for writes, and on single files for being opened."""

    def __init__(self) -> None:
        if not hasattr(libc, "inotify_init1"):
            raise OSError(errno.ENOSYS, "this system has no inotify")
        self._add = libc.inotify_add_watch
        self._remove = libc.inotify_rm_watch
        self._fd: int = libc.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise last_error("inotify_init1")
        self._folders: dict[int, str] = {}
        self._files: dict[int, str] = {}

    def add_folder(self, path: str) -> None:
        """Watch a folder, but not the folders in it; raise `OSError` if the system has no more watches."""
        self._folders[self._begin(path, _FOLDER)] = path

    def add_file(self, path: str) -> bool:
        """Watch a file for being opened; false if it does not exist. A watched file stays watched."""
        if path in self._files.values():
            return True
        try:
            self._files[self._begin(path, _FILE)] = path
        except FileNotFoundError:
            return False
        return True

    def forget_below(self, path: str) -> None:
        """End the watches on a folder and on everything below it."""
        inside = path + "/"
        for number in [n for n, at in self._folders.items() if at == path or at.startswith(inside)]:
            del self._folders[number]
            # The kernel has ended it already if the folder was removed; that error is ignored.
            self._remove(self._fd, number)

    def follow(self, before: str, after: str) -> None:
        """Take note that a folder with everything below it was moved."""
        for number, at in self._folders.items():
            if at == before or at.startswith(before + "/"):
                self._folders[number] = after + at[len(before) :]

    def look(self) -> TouchedPaths:
        """Return what happened since the last look."""
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
        """End the watches on everything; the object can be used for something else."""
        for number in (*self._folders, *self._files):
            self._remove(self._fd, number)
        self._folders.clear()
        self._files.clear()
        self.look()

    def _begin(self, path: str, mask: int) -> int:
        number: int = self._add(self._fd, os.fsencode(path), mask)
        if number < 0:
            raise last_error(path)
        return number

    def close(self) -> None:
        """End all watches."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


class InotifyPool:
    """A pool of watches that are used again, because the kernel takes milliseconds to close one."""

    def __init__(self) -> None:
        self._spare: list[InotifyWatch] = []

    def take(self) -> InotifyWatch:
        """Return an unused watch; raise `OSError` if the system does not report what is touched."""
        try:
            return self._spare.pop()
        except IndexError:
            return InotifyWatch()

    def give_back(self, watch: InotifyWatch) -> None:
        """Keep a watch for the next user."""
        watch.forget_all()
        self._spare.append(watch)

    def close(self) -> None:
        """Close the watches that nobody uses."""
        while self._spare:
            self._spare.pop().close()
