"""
Linux: resolution of the paths that an observed process names.

Loaded by the supervisor too. The tracer does it while the call waits; it sees the same files.
"""

from __future__ import annotations

import os
import stat

_OWN = "/proc/self"
_MOST_LINKS = 40


class PathResolver:
    """Resolves paths, and remembers folders until a name changes."""

    def __init__(self) -> None:
        self._folders: dict[str, tuple[str, tuple[str, ...]]] = {}

    def forget(self) -> None:
        """Forget all folders, because a name has changed."""
        self._folders.clear()

    def own_entry(self, path: str, pid: int) -> str:
        """Return a path with the number of a process replaced by the word for oneself."""
        for alias in (f"/proc/{pid}", "/proc/thread-self"):
            if path == alias or path.startswith(f"{alias}/"):
                return _OWN + path[len(alias) :]
        return path

    def resolve(self, path: str, pid: int, *, follow: bool) -> tuple[str, list[str], os.stat_result | None]:
        """
        Return the resolved path, the links that lead there, and what is there; ``None`` if there is nothing.
        """
        own = f"/proc/{pid}"
        path = self.own_entry(path, pid)
        links: list[str] = []
        while True:
            head, _, name = path.rpartition("/")
            if name in ("", ".", ".."):
                whole, found = self._folder(path, own)
            else:
                folder, found = self._folder(head, own)
                whole = f"{folder}/{name}" if folder != "/" else f"/{name}"
            links += found
            real = _real(whole, own)
            try:
                status = os.lstat(real)
            except OSError:
                return whole, links, None
            if not follow or whole == _OWN or not stat.S_ISLNK(status.st_mode) or len(links) > _MOST_LINKS:
                return whole, links, status
            try:
                target = os.readlink(real)
            except OSError:
                return whole, links, None
            if whole.startswith(f"{_OWN}/") and not target.startswith("/"):
                return whole, links, status  # a pipe or a socket that a descriptor of its own stands for
            links.append(whole)
            path = os.path.join(os.path.dirname(whole), target)

    def _folder(self, path: str, own: str) -> tuple[str, tuple[str, ...]]:
        """Resolve a path whose last part is a folder; return it with the links that lead there."""
        # No recursion: a path may have more parts than Python has frames.
        parts: list[tuple[str, str]] = []
        found = self._folders.get(path)
        while found is None:
            head, _, name = path.rpartition("/")
            if head or name:
                parts.append((path, name))
            path = head
            found = self._folders.get(path) if path else ("/", ())
        for whole, name in reversed(parts):
            folder, links = found
            if name == "..":
                found = os.path.dirname(folder), links
            elif name not in ("", "."):
                found = self._enter(folder, name, links, own)
            if not whole.startswith("/proc/"):
                self._folders[whole] = found
        return found

    def _enter(self, folder: str, name: str, links: tuple[str, ...], own: str) -> tuple[str, tuple[str, ...]]:
        whole = f"{folder}/{name}" if folder != "/" else f"/{name}"
        if whole in (_OWN, "/proc/thread-self"):
            return _OWN, links
        try:
            target = os.readlink(_real(whole, own))
        except OSError:
            return whole, links
        if len(links) > _MOST_LINKS or (whole.startswith(_OWN) and not target.startswith("/")):
            return whole, links
        further, more = self._folder(os.path.join(folder, target), own)
        return further, (*links, whole, *more)


def _real(path: str, own: str) -> str:
    """Return how this process finds an entry of another process's own."""
    return own + path[len(_OWN) :] if path.startswith(_OWN) else path
