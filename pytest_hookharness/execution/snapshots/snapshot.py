"""
Snapshots: all that one simulation may write, remembered and put back.

A lap that is played from a changed state leaves its marks; afterwards the folders
are made again what they were, at a cost that follows from what changed: each path costs one look, and only
what differs is read or written.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from pytest_hookharness.execution.paths import lies_in, remove_tree
from pytest_hookharness.execution.snapshots.content_store import ContentStore
from pytest_hookharness.execution.snapshots.inventory import Inventory, InventoryEntry, SnapshotError
from pytest_hookharness.execution.snapshots.restore import Restore, compare
from pytest_hookharness.execution.state.file_contents import LARGEST

__all__ = ["Snapshot", "SnapshotError", "Snapshots"]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """
    What some folders held at one time.

    Attributes:
        entries: What stood at each path, folders before what is in them; the folders themselves included.
    """

    entries: Mapping[str, InventoryEntry]

    def contents(self) -> frozenset[str]:
        """
        The names of the contents that it needs to be put back.
        """
        return frozenset(
            found.content for found in self.entries.values() if stat.S_ISREG(found.mode) and not found.unkept
        )


class Snapshots:
    """
    The snapshots of some folders.

    Put back are names, kinds, contents, permissions, owners, times, link targets, device numbers, which names
    are one inode, and the extended attributes and access lists that programs and people set, those of an
    overlay included. A file that still is where it was is written in place, so that names it has elsewhere,
    and whoever watches it, stay right; what was removed or replaced comes back as a new inode.

    What cannot be put back: the time of the last change of an inode, its number, the attributes that the
    system keeps for itself, holes, and the name outside of the folders of a file that was replaced. What was
    merely read keeps its new time of access, for putting that back would change the inode. Where a folder or
    file has no permission for its owner, looking into it changes the time of its last change, unless we have
    rights over the machine.

    No process may run in the folders meanwhile, and no overlay that writes to them may be mounted. The
    folders themselves stay what they are, for they may be mounted elsewhere: one that is gone is an error.
    """

    def __init__(self, folders: Sequence[Path], store: Path, *, largest: int = LARGEST) -> None:
        """
        Say what is remembered, and where.

        Args:
            folders: All folders whose content is put back. One that did not exist will not exist again.
            store: A new folder for the kept contents, outside of all of them.
            largest: Bytes of the largest file whose content is kept; zeros do not count. A larger one must
                not have changed when a snapshot is put back.

        Raises:
            SnapshotError: The store lies in one of the folders, or the reverse, or cannot be made.
        """
        real = [os.path.realpath(folder) for folder in folders]
        place = os.path.realpath(store)
        for folder in real:
            if lies_in(place, [folder]) or lies_in(folder, [place]):
                raise SnapshotError(place, f"the store and {folder} hold each other", "choose another store")
        try:
            self._store = ContentStore(Path(place), largest)
        except OSError as error:
            raise SnapshotError(
                place, f"it cannot be made: {error.strerror}", "choose another store"
            ) from error
        self._inventory = Inventory(real, self._store)

    def take(self) -> Snapshot:
        """
        Remember everything as it is now.

        Raises:
            SnapshotError: Something cannot be read.
        """
        try:
            scan = self._inventory.walk()
            if scan.too_deep:
                raise SnapshotError(
                    scan.too_deep[0], "its path is too long", "no path leads to what is in it"
                )
            entries = {path: self._inventory.find(path, scan, keep=True) for path in scan.statuses}
        finally:
            self._inventory.permissions.restore()
        self._inventory.forget(entries)
        return Snapshot(MappingProxyType(entries))

    def put_back(self, snapshot: Snapshot) -> tuple[Path, ...]:
        """
        Make the folders hold again what they held when the snapshot was taken.

        Returns:
            The paths that had differed.

        Raises:
            SnapshotError: A difference cannot be undone. Nothing was touched if that could be foreseen.
        """
        wanted, inventory = snapshot.entries, self._inventory
        try:
            scan = inventory.walk()
            plan = compare(wanted, scan, inventory)
            Restore(wanted, scan, inventory, plan).apply()
        finally:
            inventory.permissions.restore()
        inventory.forget(wanted)
        return tuple(map(Path, plan.paths()))

    def keep(self, *snapshots: Snapshot) -> None:
        """
        Free all contents that none of these snapshots needs; others cannot be put back where that is missing.

        Raises:
            SnapshotError: A content cannot be removed.
        """
        needed = frozenset[str]().union(*(snapshot.contents() for snapshot in snapshots))
        try:
            self._store.free(needed)
        except OSError as error:
            raise SnapshotError(
                str(self._store.folder), f"it cannot be cleared: {error.strerror}", ""
            ) from error

    def close(self) -> None:
        """
        Remove the store; no snapshot can be put back any more.

        Raises:
            SnapshotError: Something in it could not be removed.
        """
        self.keep()
        left = remove_tree(self._store.folder)
        if left:
            raise SnapshotError(
                str(self._store.folder), f"it cannot be removed: {left[0]}", "remove it by hand"
            )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
