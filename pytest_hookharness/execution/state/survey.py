"""
The survey: what is known of the covered files, and reading them again.

Files are known by their status (times, size, inode number, mode). They are read again only if that differs,
or if the last change is so recent that a later write could have the same time. The content of an entry is
followed, after a zero byte, by the owner if that is not ourselves, and by extended attributes and access
lists if there are any.

A write into memory that a process mapped before the last look leaves no trace while that process lives. So
look only when no process of a hook run is left.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from hashlib import blake2b

from pytest_hookharness.execution.paths import Stamp, stamp_of
from pytest_hookharness.execution.state.file_contents import RACY, attributes_of, content_of, kind_of
from pytest_hookharness.execution.state.masking import Hidden, Masking
from pytest_hookharness.execution.state.relevance import (
    counts,
    head_of_log,
    index_digest,
    is_index,
    log_digest,
)
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.time_budget import check_time
from pytest_hookharness.model.trace import StateEntry


@dataclass(frozen=True, slots=True)
class SurveyedFiles:
    """
    What a survey found below one root.

    Attributes:
        entries: What was found, by state path.
        keys: The status of each path, and when it was looked at.
        linked: The files with several names.
        uncounted: Folders that do not count themselves.
    """

    entries: Mapping[str, StateEntry]
    keys: Mapping[str, tuple[Stamp, int]]
    linked: frozenset[str]
    uncounted: frozenset[str]


class Survey:
    """
    The entries of the covered files, by state path.

    Attributes:
        entries: What was found.
        unreadable: Why something could not be read.
        hidden: What masks hid.
        unapplied: Why a mask could not be applied.
        linked: Paths of the files with several names, which can change without notice in their folder.
        inodes: Their inode numbers, as far as they were found since this was last emptied.
        changed: Whether anything differs since this was last set to false.
        skipped: State paths that do not count themselves, though what is below them does.
    """

    def __init__(self, masking: Masking, hidden: Hidden, roots: Mapping[str, str]) -> None:
        self.entries: dict[str, StateEntry] = {}
        self.unreadable: dict[str, str] = {}
        self.hidden = hidden
        self.unapplied: dict[str, str] = {}
        self.linked: dict[str, str] = {}
        self.inodes: set[int] = set()
        self.changed = False
        self.skipped: frozenset[str] = frozenset()
        self._masking = masking
        # By their state paths, of which one may seem to lie below another one.
        self._roots = roots
        # Folders that were found and do not count themselves.
        self._uncounted: set[str] = set()
        self._owner = (os.geteuid(), os.getegid())
        self._keys: dict[str, tuple[Stamp, int]] = {}
        # Folders in which nothing was found when they were walked.
        self._empty: set[str] = set()

    def skip(self, names: frozenset[str]) -> None:
        """Leave these state paths themselves out from now on."""
        self.skipped |= names
        for name in names & self.entries.keys():
            del self.entries[name]
            self.changed = True

    def assume(self, known: SurveyedFiles) -> None:
        """Take over the results of another survey; the first look reads files whose status has changed."""
        self.entries.update(known.entries)
        self._keys.update(known.keys)
        self._uncounted |= known.uncounted
        for name in self.skipped:
            self.entries.pop(name, None)
        for root, place in self._roots.items():
            inside = (name for name in known.linked if name.startswith(f"{root}/"))
            self.linked.update({name: place + name[len(root) :] for name in inside})
        self.changed = True

    def known(self, root: str) -> SurveyedFiles | None:
        """Return what was found below a root; ``None`` if that is not all of it."""
        inside = f"{root}/"
        if root in self.skipped or any(name.startswith(inside) for name in (*self.unreadable, *self.skipped)):
            return None
        entries = {
            name: entry for name, entry in self.entries.items() if name.startswith(inside) or name == root
        }
        keys = {name: self._keys[name] for name in entries if name in self._keys}
        uncounted = frozenset(name for name in self._uncounted if name.startswith(inside))
        linked = frozenset(name for name in self.linked if name.startswith(inside))
        return SurveyedFiles(entries, keys, linked, uncounted) if len(keys) == len(entries) else None

    def look(self, real: str, name: str, *, force: bool = True) -> bool:
        """
        Look at one path; return whether it is a folder whose content must be listed again.

        Without ``force`` it is not read if its status is unchanged.
        """
        if force:
            self._keys.pop(name, None)
        try:
            status = os.lstat(real)
        except (FileNotFoundError, NotADirectoryError):
            self.drop(name)
            return False
        except OSError as error:
            self._mark_unreadable(name, "other", 0, error)
            return False
        before = self.entries.get(name)
        held_others = name in self._uncounted or (before is not None and before.kind == "folder")
        self.note(real, name, status)
        if not stat.S_ISDIR(status.st_mode):
            if held_others:
                self._uncounted.discard(name)
                self._drop_below(name)
            return False
        return before is None or before != self.entries.get(name)

    def walk(
        self, real: str, name: str, entering: Callable[[str], None], without: Collection[str] = ()
    ) -> None:
        """
        Look at a folder and everything below it; what no longer exists is dropped.

        ``entering`` is called with the path of each folder before it is listed. State paths in ``without``
        are not read now.
        """
        seen = {name}
        # Nothing is known below what is new, and there may be thousands of entries elsewhere.
        is_new = not (name in self.entries or name in self.skipped or name in self._uncounted)
        pending = [(real, name)]
        self.look(real, name)
        while pending:
            folder, its_name = pending.pop()
            check_time(f"the files of {folder} were looked at")
            for child in self._list(folder, its_name, entering):
                path = f"{its_name}/{child.name}"
                try:
                    if not counts(path) and child.is_file(follow_symlinks=False):
                        continue
                    status = child.stat(follow_symlinks=False)
                except (FileNotFoundError, NotADirectoryError):
                    continue
                except OSError as error:
                    seen.add(path)
                    self._mark_unreadable(path, "other", 0, error)
                    continue
                seen.add(path)
                if path not in without:
                    self.note(child.path, path, status)
                if stat.S_ISDIR(status.st_mode):
                    pending.append((child.path, path))
        inside = name + "/"
        others = {root: place for root, place in self._roots.items() if root != name}
        known = () if is_new else self.entries
        for path in [path for path in known if path.startswith(inside) and path not in seen]:
            if not _exists_in(others, path):
                self._forget(path)
        (self._empty.add if len(seen) == 1 else self._empty.discard)(name)

    def walk_unwatched(self, real: str, name: str, without: Collection[str] = ()) -> None:
        """Look at a folder that nobody watches and everything below it, unless it is still empty."""
        if name in self._empty:
            try:
                if self._is_known(name, stamp_of(os.lstat(real))):
                    return
            except OSError:
                pass  # it is gone, or cannot be looked at
        self.walk(real, name, lambda _: None, without)

    def _list(self, folder: str, name: str, entering: Callable[[str], None]) -> list[os.DirEntry[str]]:
        try:
            entering(folder)
            with os.scandir(folder) as listing:
                return list(listing)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            known = self.entries.get(name)
            self._mark_unreadable(name, "folder", known.mode if known is not None else 0, error)
            return []

    def note(self, real: str, name: str, status: os.stat_result) -> None:
        """Update the entry of a path from its status."""
        mode = status.st_mode
        if not counts(name, folder=stat.S_ISDIR(mode)):
            self._forget(name)
            if stat.S_ISDIR(mode):
                self._uncounted.add(name)
            return
        key = stamp_of(status)
        if self._is_known(name, key):
            return
        check_time(f"{real} was read")
        # Before reading: a change during the read then counts as too recent to trust.
        now = time.time_ns()
        try:
            entry = self._read(real, name, status)
        except FileNotFoundError:
            self.drop(name)
            return
        except OSError as error:
            self._mark_unreadable(name, kind_of(mode), stat.S_IMODE(mode), error)
            return
        self.unreadable.pop(name, None)
        self.linked.pop(name, None)
        self._store_entry(name, entry)
        self._keys[name] = (key, now)
        if status.st_nlink > 1 and entry.kind != "folder":
            self.linked[name] = real
            self.inodes.add(status.st_ino)

    def _is_known(self, name: str, key: Stamp) -> bool:
        """Return whether a path with that status must still be what was found there."""
        known = self._keys.get(name)
        return known is not None and known[0] == key and key[0] < known[1] - RACY

    def _store_entry(self, name: str, entry: StateEntry) -> None:
        if name not in self.skipped and self.entries.get(name) != entry:
            self.entries[name] = entry
            self.changed = True

    def _mark_unreadable(self, name: str, kind: str, mode: int, error: OSError) -> None:
        word = errno.errorcode.get(error.errno or 0, "?")
        self._keys.pop(name, None)
        self.unreadable[name] = f"{name} cannot be read: {error.strerror or error}"
        self._store_entry(name, StateEntry(kind, mode, f"unreadable:{word}"))

    def _read(self, real: str, name: str, status: os.stat_result) -> StateEntry:
        self.unapplied.pop(name, None)
        mode = status.st_mode
        digest = self._digest_for(real, name) if stat.S_ISREG(mode) else None
        content = content_of(real, status, digest) + self._metadata(real, status)
        return StateEntry(kind_of(mode), stat.S_IMODE(mode), content)

    def _digest_for(self, real: str, name: str) -> Callable[[bytes], str] | None:
        if self._masking and self._masking.names(name):
            return partial(self._masked_digest, name)
        if is_index(name):
            return index_digest
        head = head_of_log(name, real)
        return log_digest if head and os.path.isfile(head) else None

    def _metadata(self, real: str, status: os.stat_result) -> str:
        owner = (status.st_uid, status.st_gid)
        prefix = "" if owner == self._owner else f"\0owner {owner[0]}:{owner[1]}"
        attributes = attributes_of(real)
        return f"{prefix}\0attributes {attributes}" if attributes else prefix

    def _masked_digest(self, name: str, data: bytes) -> str:
        masked = self._masking.apply(name, data)
        if masked.problem:
            self.unapplied[name] = masked.problem
        if masked.data is None:
            left = "masked"
        else:
            digest = blake2b(masked.data, digest_size=16).hexdigest()
            left = f"masked:{digest}" if masked.changed else digest
        self.hidden.note(name, blake2b(data, digest_size=16).hexdigest(), left)
        return left

    def find_linked(self) -> list[str]:
        """List the files that share their inode with a file that was found to have several names."""
        if not self.inodes:
            return []
        found = [name for name, (key, _) in self._keys.items() if key[2] in self.inodes]
        self.inodes.clear()
        return found

    def drop(self, name: str) -> None:
        """Drop a path that no longer exists, with everything below it."""
        known = self.entries.get(name)
        if name in self.skipped or name in self._uncounted or (known is not None and known.kind == "folder"):
            self._drop_below(name)
        self._forget(name)

    def _drop_below(self, name: str) -> None:
        inside = name + "/"
        for path in [path for path in self.entries if path.startswith(inside)]:
            self._forget(path)

    def _forget(self, name: str) -> None:
        self.changed = self.entries.pop(name, None) is not None or self.changed
        for known_paths in (self._keys, self.unreadable, self.unapplied, self.linked):
            known_paths.pop(name, None)
        self._uncounted.discard(name)


def _exists_in(roots: Mapping[str, str], path: str) -> bool:
    """Return whether a state path is that of something in one of these roots."""
    found = (place + path[len(root) :] for root, place in roots.items() if f"{path}/".startswith(f"{root}/"))
    return any(map(os.path.lexists, found))
