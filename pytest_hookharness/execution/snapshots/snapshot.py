"""
Snapshots: everything one simulation may write, recorded and restored.

A cycle repetition that is played from a perturbed state changes the folders; afterwards they are restored.
The cost follows from what changed: each path costs one status call, and only what differs is read or written.
"""

from __future__ import annotations

import os
import stat
from bisect import bisect_left
from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from types import MappingProxyType

from pytest_hookharness.execution.paths import lies_in, remove_tree
from pytest_hookharness.execution.real_paths import real_paths
from pytest_hookharness.execution.snapshots.content_store import ContentStore
from pytest_hookharness.execution.snapshots.inventory import (
    FolderScan,
    Inventory,
    InventoryEntry,
    SnapshotError,
    has_other_names,
)
from pytest_hookharness.execution.snapshots.restore import Restore, compare
from pytest_hookharness.execution.state.touches import Touched
from pytest_hookharness.model.fast_dataclass import dataclass

__all__ = ["Snapshot", "SnapshotError", "Snapshots"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    What some folders held at one time.

    Attributes:
        entries: What stood at each path, folders before what is in them; the folders themselves included.
        paths: The paths in alphabetical order.
        shared: Whether a file has several names, so that one of them may be written to by another.
    """

    entries: Mapping[str, InventoryEntry]
    paths: tuple[str, ...]
    shared: bool

    def below(self, folder: str) -> Sequence[str]:
        """Return the paths in a folder."""
        # A slash is followed by a zero in the alphabet.
        return self.paths[bisect_left(self.paths, f"{folder}/") : bisect_left(self.paths, f"{folder}0")]

    def contents(self) -> frozenset[str]:
        """Return the names of the contents that restoring it needs."""
        return frozenset(
            found.content for found in self.entries.values() if stat.S_ISREG(found.mode) and not found.unkept
        )


class Snapshots(AbstractContextManager["Snapshots"]):
    """
    The snapshots of some folders.

    Restored are names, kinds, contents, permissions, owners, times, link targets, device numbers, which names
    share an inode, and the extended attributes and access lists that programs and people set, those of an
    overlay included. A file that is still in place is written in place, so that its names elsewhere stay
    valid and programs that watch it notice; a file that was removed or replaced comes back as a new inode.

    Not restored: the time of an inode's last status change, its number, attributes that the system keeps for
    itself, holes, and the outside name of a file that was replaced. A file that was only read keeps its new
    time of access, because restoring that would change the inode. Looking into a file or folder without
    permission for its owner changes the time of its last status change, unless we have rights over the
    machine.

    This is sound only while no process runs in the folders and no overlay that writes to them is mounted. The
    folders themselves are never replaced, because they may be mounted elsewhere. A missing one is an error.
    """

    def __init__(self, folders: Sequence[Path], store: Path) -> None:
        """
        Set what is recorded, and where contents are kept.

        A file with more than 256 MiB besides zeros is not kept: it must be unchanged at a restore.

        Args:
            folders: All folders whose content is restored. One that did not exist will not exist again.
            store: A new folder for the kept contents, outside of all of them.

        Raises:
            SnapshotError: The store lies in one of the folders, or the reverse, or cannot be made.
        """
        found = real_paths((*folders, store))
        real, place = [found[str(folder)] for folder in folders], found[str(store)]
        for folder in real:
            if lies_in(place, [folder]) or lies_in(folder, [place]):
                raise SnapshotError(place, f"the store and {folder} hold each other", "choose another store")
        try:
            self._store = ContentStore(Path(place))
        except OSError as error:
            problem = f"it cannot be made: {error.strerror}"
            raise SnapshotError(place, problem, "choose another store") from error
        self._inventory = Inventory(real, self._store)

    def take(self) -> Snapshot:
        """Record everything as it is now; raise `SnapshotError` if something cannot be read."""
        return self._record({}, None)

    def renew(self, snapshot: Snapshot, paths: Collection[Path]) -> Snapshot:
        """
        Record everything as it is now, where only these paths may differ from a snapshot.

        They must include all paths that a restore made anew: another file may have got their old inodes.

        Raises:
            SnapshotError: Something cannot be read.
        """
        if snapshot.shared:
            return self.take()
        scan = self._inventory.look((), alone=map(str, paths))
        gone = {str(path) for path in paths} - scan.statuses.keys()
        return self._record(
            {path: found for path, found in snapshot.entries.items() if path not in gone}, scan
        )

    def _record(self, known: Mapping[str, InventoryEntry], seen: FolderScan | None) -> Snapshot:
        try:
            scan = seen or self._inventory.walk()
            for folder in scan.too_deep:
                raise SnapshotError(folder, "its path is too long", "no path leads to what is in it")
            # Contents are copied now: a file may be gone when they are needed.
            found = {path: self._inventory.find(path, scan, keep=True) for path in scan.statuses}
        finally:
            self._inventory.permissions.restore()
        entries = {**known, **found}
        self._inventory.forget(entries)
        shared = any(map(has_other_names, scan.statuses.values()))
        return Snapshot(MappingProxyType(entries), tuple(sorted(entries)), shared)

    def restore(self, snapshot: Snapshot, touched: Touched | None = None) -> tuple[Path, ...]:
        """
        Restore what the folders held when the snapshot was taken; return the paths that differed.

        Args:
            touched: What was touched since then, so that only this is looked at; ``None`` if that is unknown.

        Raises:
            SnapshotError: A difference cannot be undone. Nothing was changed if that could be foreseen.
        """
        inventory = self._inventory
        try:
            narrowed = None if touched is None else self._narrow(snapshot, touched)
            wanted, scan = narrowed or (snapshot.entries, inventory.walk())
            # First the whole plan, which fails before anything is touched if a difference cannot be undone.
            plan = compare(wanted, scan, inventory)
            Restore(wanted, scan, inventory, plan).apply()
        finally:
            inventory.permissions.restore()
        inventory.forget(snapshot.entries)
        return tuple(map(Path, plan.paths()))

    def _narrow(
        self, snapshot: Snapshot, touched: Touched
    ) -> tuple[Mapping[str, InventoryEntry], FolderScan] | None:
        """
        Return what may differ of a snapshot, and a scan of it; ``None`` if that may be anything.

        A write is reported under the name that was used. So the whole is looked at where a file has several
        names, or where a name was removed that the snapshot does not have: it may have been one more.
        """
        entries = snapshot.entries
        if snapshot.shared or not touched.removed <= entries.keys():
            return None
        known = {folder for folder in touched.folders if folder in entries}
        wholes = touched.paths.union(folder for folder in self._inventory.folders if folder not in known)
        # The entries in a folder cannot change without its times.
        above = {os.path.dirname(path) for path in touched.paths}
        scan = self._inventory.look(sorted(wholes), alone=sorted(above & entries.keys()))
        if any(map(has_other_names, scan.statuses.values())):
            return None
        inside = {path for folder in wholes for path in snapshot.below(folder)}
        wanted = {path: entries[path] for path in sorted((wholes | above | inside) & entries.keys())}
        return wanted, scan

    def keep(self, *snapshots: Snapshot) -> None:
        """
        Free all contents that none of these snapshots needs.

        Other snapshots can be restored only where no content is missing.

        Raises:
            SnapshotError: A content cannot be removed.
        """
        needed = frozenset[str]().union(*(snapshot.contents() for snapshot in snapshots))
        try:
            self._store.free(needed)
        except OSError as error:
            place = str(self._store.folder)
            raise SnapshotError(place, f"it cannot be cleared: {error.strerror}", "") from error

    def close(self) -> None:
        """Remove the store, so no snapshot can be restored; raise `SnapshotError` if something is left."""
        self.keep()
        left = remove_tree(self._store.folder)
        if left:
            place = str(self._store.folder)
            raise SnapshotError(place, f"it cannot be removed: {left[0]}", "remove it by hand")

    def __exit__(self, *_: object) -> None:
        self.close()
