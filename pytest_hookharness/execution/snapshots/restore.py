"""
Restoring: find what differs from a snapshot, then undo it.

A restore is sound because all differences are found first, and nothing is touched if one of them cannot be
undone. An inode is written in place only where all its new names are in the folders: a file of another
program that is linked into a folder is not overwritten.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Callable, Container, Mapping
from pathlib import Path
from typing import TypeAlias

from pytest_hookharness.execution.paths import reason_of, remove_tree
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.snapshots.inventory import (
    FolderScan,
    Inventory,
    InventoryEntry,
    Number,
    SnapshotError,
    attributes_of,
    number_of,
)
from pytest_hookharness.model.fast_dataclass import dataclass, replace

Entries: TypeAlias = Mapping[str, InventoryEntry]
_BY_HAND = "do that by hand, or make a new workspace"


@dataclass(frozen=True, slots=True)
class Plan:
    """
    What differs, by path.

    Attributes:
        surplus: What is to be removed, folders before what is in them.
        missing: What is to be made, folders before what is in them.
        rewritten: Files whose content is to be written in place.
        changed: What else is to be set right, the rewritten files included.
        leaders: The path by which each wanted inode that still exists is reached.
    """

    surplus: tuple[str, ...]
    missing: tuple[str, ...]
    rewritten: tuple[str, ...]
    changed: tuple[str, ...]
    leaders: Mapping[Number, str]

    def paths(self) -> tuple[str, ...]:
        """List all paths that differ."""
        return tuple(sorted({*self.surplus, *self.missing, *self.changed}))


def compare(wanted: Entries, scan: FolderScan, inventory: Inventory) -> Plan:
    """Find what differs between a snapshot and the folders; raise `SnapshotError` if it cannot be undone."""
    for folder in inventory.folders:
        if folder in wanted and not _is_folder(scan, folder):
            reason = "a new one is not what other programs have open"
            raise SnapshotError(folder, "the folder is gone", reason)
    seen = scan.statuses
    # Usually most paths; nothing more needs to be known of them.
    unchanged = {
        path for path, found in wanted.items() if path in seen and inventory.recall(path, scan) is found
    }
    chosen = _choose_inodes(wanted, scan, inventory, unchanged)
    leaders: dict[Number, str] = {}
    missing: list[str] = []
    rewritten: list[str] = []
    changed: list[str] = []
    for path, found in wanted.items():
        if path in unchanged:
            leaders.setdefault(found.number, path)
            continue
        status = seen.get(path)
        if stat.S_ISDIR(found.mode):
            stands = status is not None and stat.S_ISDIR(status.st_mode)
        else:
            stands = status is not None and chosen.get(found.number) == number_of(status)
        if not stands or status is None:
            missing.append(path)
            _check_kept(path, found, inventory)
            continue
        leaders.setdefault(found.number, path)
        # A file of another size differs, so it need not be read.
        if stat.S_ISREG(found.mode) and status.st_size != found.size:
            same = False
        else:
            now = inventory.find(path, scan, keep=False)
            if now.resembles(found):
                continue
            same = now.content == found.content
        changed.append(path)
        if not same:
            _check_kept(path, found, inventory)
            rewritten.append(path)
    wrong = {path for path in missing if path in seen}
    surplus = (path for path in seen if path in wrong or path not in wanted)
    return Plan(tuple(surplus), tuple(missing), tuple(rewritten), tuple(changed), leaders)


def _is_folder(scan: FolderScan, path: str) -> bool:
    return path in scan.statuses and stat.S_ISDIR(scan.statuses[path].st_mode)


def _check_kept(path: str, found: InventoryEntry, inventory: Inventory) -> None:
    if not stat.S_ISREG(found.mode):
        return
    if found.unkept:
        raise SnapshotError(path, "it differs from what it was", f"that was not kept: {found.unkept}")
    if found.content not in inventory.store:
        raise SnapshotError(path, "it differs from what it was", "that was freed; name it to `keep`")


def _choose_inodes(
    wanted: Entries, scan: FolderScan, inventory: Inventory, unchanged: Container[str]
) -> dict[Number, Number]:
    """Choose the existing inode that becomes each wanted one; the others are made anew."""
    groups: dict[Number, list[str]] = {}
    chosen: dict[Number, Number] = {}
    for path, found in wanted.items():
        if path in unchanged:
            chosen[found.number] = found.number
        elif not stat.S_ISDIR(found.mode):
            groups.setdefault(found.number, []).append(path)
    claimed = set(chosen)
    # First the inodes that are still in place; then what stands in their place, if all its names are in the
    # folders.
    for itself in (True, False):
        for number, paths in groups.items():
            for path in paths if number not in chosen else ():
                status = scan.statuses.get(path)
                if status is None or (here := number_of(status)) in claimed or itself != (here == number):
                    continue
                # The inode itself may have had outside names before, but must not have got more.
                most = wanted[path].foreign if itself else 0
                if scan.foreign(status) <= most and _fits(path, wanted[path], scan, inventory):
                    chosen[number] = here
                    claimed.add(here)
                    break
    return chosen


def _fits(path: str, found: InventoryEntry, scan: FolderScan, inventory: Inventory) -> bool:
    """Return whether an inode can become a wanted one: only the content of a file can be replaced."""
    status = scan.statuses[path]
    if stat.S_IFMT(status.st_mode) != stat.S_IFMT(found.mode):
        return False
    if stat.S_ISREG(found.mode):
        return True
    now = inventory.find(path, scan, keep=False)
    return (now.content, now.device) == (found.content, found.device)


class Restore:
    """The changes that a plan asks for."""

    def __init__(self, wanted: Entries, scan: FolderScan, inventory: Inventory, plan: Plan) -> None:
        self._wanted = wanted
        self._scan = scan
        self._inventory = inventory
        self._plan = plan
        self._leaders = dict(plan.leaders)
        # Where folders are moved instead of being removed.
        self._aside: Path | None = None
        self._inside = Counter(found.number for found in wanted.values())

    def apply(self) -> None:
        """
        Apply the planned changes to the folders.

        The order matters: names are removed and made before contents are written, since a link may be the
        only way to a content; metadata comes last, and folders after everything in them, since every change
        in a folder sets its time.

        Raises:
            SnapshotError: The system refused a change; the changes before it are done.
        """
        plan, wanted = self._plan, self._wanted
        # A folder whose names change gets another time, so it is set again even if it did not differ itself.
        touched = {os.path.dirname(path) for path in (*plan.surplus, *plan.missing)}
        self._clear(touched)
        written = {wanted[path].number: path for path in reversed(plan.rewritten)}
        to_restore = {wanted[path].number: path for path in reversed(plan.changed)}
        for path in plan.missing:
            number, mode = wanted[path].number, wanted[path].mode
            if number in self._leaders:
                self._try(path, self._link)
                continue
            self._try(path, self._make)
            self._leaders[number] = to_restore[number] = path
            if stat.S_ISREG(mode):
                written[number] = path
        # Each inode is written once, whichever of its names comes first.
        for path in written.values():
            self._try(path, self._write)
        folders = {path for path in to_restore.values() if stat.S_ISDIR(wanted[path].mode)}
        for path in to_restore.values():
            if path not in folders:
                self._try(path, self._restore_metadata)
        folders |= touched | self._inventory.permissions.opened
        # Inner folders first: an outer one may lose the permission to reach them.
        for path in sorted(folders & wanted.keys(), reverse=True):
            if stat.S_ISDIR(wanted[path].mode):
                self._try(path, self._restore_metadata)
        self._inventory.permissions.forget()

    def _clear(self, touched: set[str]) -> None:
        """Remove what the snapshot does not have."""
        # Adding or removing a name changes the folder, and needs permission to do so.
        for folder in touched:
            if folder in self._wanted and _is_folder(self._scan, folder):
                self._try(folder, self._open_folder)
        surplus = set(self._plan.surplus)
        found = [self._scan.statuses[path] for path in surplus]
        folders = any(stat.S_ISDIR(status.st_mode) for status in found)
        # A file that has other names would keep one here.
        if folders and all(stat.S_ISDIR(status.st_mode) or status.st_nlink == 1 for status in found):
            size = 512 * sum(status.st_blocks for status in found)
            self._aside = self._inventory.store.place_for(len(surplus), size)
        for path in self._plan.surplus:
            if os.path.dirname(path) not in surplus:
                self._try(path, self._remove)

    def _try(self, path: str, act: Callable[[str], None]) -> None:
        try:
            act(path)
        except OSError as error:
            raise SnapshotError(path, f"it cannot be put back: {reason_of(error)}", _BY_HAND) from error

    def _open_folder(self, path: str) -> None:
        self._inventory.permissions.open(path, os.lstat(path).st_mode, 0o700)

    def _remove(self, path: str) -> None:
        if not stat.S_ISDIR(self._scan.statuses[path].st_mode):
            os.unlink(path)
            return
        if self._aside is not None:
            try:
                os.rename(path, self._aside / str(self._scan.statuses[path].st_ino))
            except OSError:
                pass  # it lies on another file system, or may not be moved
            else:
                return
        left = remove_tree(Path(path))
        if left:
            raise SnapshotError(path, f"{len(left)} paths in it cannot be removed: {left[0]}", _BY_HAND)

    def _make(self, path: str) -> None:
        found = self._wanted[path]
        kind = stat.S_IFMT(found.mode)
        if kind == stat.S_IFDIR:
            os.mkdir(path)
            # The access list that new folders inherit may lock out their owner.
            os.chmod(path, 0o700)
        elif kind == stat.S_IFLNK:
            os.symlink(found.content, path)
        else:
            os.mknod(path, kind | 0o600, found.device)

    def _link(self, path: str) -> None:
        leader = self._leaders[self._wanted[path].number]
        os.link(leader, path, follow_symlinks=False)

    def _write(self, path: str) -> None:
        self._inventory.permissions.open(path, os.lstat(path).st_mode, 0o600)
        flags = os.O_WRONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
        descriptor = os.open(path, flags)
        try:
            self._inventory.store.write(self._wanted[path].content, descriptor)
        finally:
            os.close(descriptor)

    def _restore_metadata(self, path: str) -> None:
        """Restore everything but the content, in an order in which no step undoes an earlier one."""
        found = self._wanted[path]
        status = os.lstat(path)
        is_link = stat.S_ISLNK(found.mode)
        if not is_link:
            bits = 0o700 if stat.S_ISDIR(found.mode) else 0o600
            self._inventory.permissions.open(path, status.st_mode, bits)
        # Changing the owner clears special permissions and capabilities, and an access list sets bits of the
        # mode.
        if (status.st_uid, status.st_gid) != found.owner:
            os.chown(path, *found.owner, follow_symlinks=False)
        _set_attributes(path, found)
        if not is_link:
            os.chmod(path, stat.S_IMODE(found.mode))
        os.utime(path, ns=(found.accessed, found.modified), follow_symlinks=False)
        status = os.lstat(path)
        # Checked afterwards, since some file systems ignore a change without an error.
        now = (status.st_mode, (status.st_uid, status.st_gid), status.st_mtime_ns)
        if now != (found.mode, found.owner, found.modified):
            seen = f"mode {status.st_mode:o}, owner {now[1]}, modified {status.st_mtime_ns}"
            wanted = f"mode {found.mode:o}, owner {found.owner}, modified {found.modified}"
            raise SnapshotError(path, seen, f"the system did not accept {wanted}; {_BY_HAND}")
        foreign = 0 if stat.S_ISDIR(found.mode) else status.st_nlink - self._inside[found.number]
        self._inventory.record(path, replace(found, foreign=foreign))


def _set_attributes(path: str, found: InventoryEntry) -> None:
    now, wanted = dict(attributes_of(path)), dict(found.attributes)
    changed = {name: value for name, value in wanted.items() if now.get(name) != value}
    system.change_attributes(path, now.keys() - wanted.keys(), changed)
