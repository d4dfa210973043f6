"""
The private folders of a workspace and the mount points in them, which a later workspace uses again.

A sandbox needs some thirty mount points, and to make and to remove them takes longer than a short hook runs.
They are used again only if nothing was written among them, by a workspace that needs exactly the same ones.
"""

from __future__ import annotations

import os
import stat
import threading
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from pytest_hookharness.execution.paths import Stamp, have_stamps, lies_in, make_folders, stamp_of
from pytest_hookharness.execution.real_paths import real_paths
from pytest_hookharness.execution.state.file_contents import RACY
from pytest_hookharness.model.fast_dataclass import dataclass

_WORLD_WRITABLE = 0o1777
# About as many as simulations run at the same time.
_MOST_SPARE = 4

# All on which it depends which mount points a sandbox makes.
_Key: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Spare:
    """
    Private folders that were put aside.

    Attributes:
        place: Where they are.
        name: The name of the folder of their workspace.
        stubs: The mount points, each by its path below that place.
    """

    key: _Key
    place: Path
    name: str
    stubs: tuple[str, ...]


class SpareMountPoints:
    """Private folders of workspaces that were closed. Any thread may use it."""

    def __init__(self, folder: Path) -> None:
        """Make nothing yet; ``folder`` is where they are put aside."""
        self._folder = folder
        self._number = 0
        self._spares: list[_Spare] = []
        self._unused: list[Path] = []
        self._lock = threading.Lock()

    def take(self, key: _Key) -> _Spare | None:
        """Return private folders that fit, which are no spare from now on; ``None`` if there are none."""
        with self._lock:
            found = next((spare for spare in reversed(self._spares) if spare.key == key), None)
            if found is not None:
                self._spares.remove(found)
            return found

    def put(self, key: _Key, top: Path, stubs: Iterable[str]) -> None:
        """Put private folders aside; raise `OSError` if they cannot be moved."""
        with self._lock:
            self._number += 1
            aside = self._folder / f"private-{self._number}"
            make_folders(self._folder)
            top.rename(aside)
            self._spares.append(_Spare(key, aside, top.parent.name, tuple(stubs)))
            if len(self._spares) > _MOST_SPARE:
                self._unused.append(self._spares.pop(0).place)

    def take_all(self) -> list[Path]:
        """Return where the folders are that nobody took, which are no spares from now on."""
        with self._lock:
            found = [*self._unused, *(spare.place for spare in self._spares)]
            self._unused, self._spares = [], []
            return found


class MountPoints:
    """The private folders of one workspace, and the mount points in them, as far as they are known."""

    def __init__(
        self, base: Path, private: Mapping[str, str], shared: Collection[str], spares: SpareMountPoints | None
    ) -> None:
        """
        Make nothing yet.

        Args:
            base: The folder of the workspace.
            private: Places of the machine, each with the folder below ``base/private`` that hooks see there.
            shared: Those of them where everybody may write.
            spares: Where such folders are taken from and put aside; ``None`` to make and remove them.
        """
        self.stubs: tuple[str, ...] = ()
        self._base = base
        self._top = base / "private"
        self._private = private
        self._shared = shared
        self._spares = spares
        self._key: _Key = ()
        self._visible: Sequence[str] = ()
        # Nothing before it is noted what they are like.
        self._stamps: dict[str, Stamp] = {}
        # The names in folders whose last change is so recent that a later one could have the same time.
        self._names: dict[str, set[str]] = {}

    def make(self, visible: Sequence[str], writable: Collection[str]) -> None:
        """Make the folders, or take spare ones with mount points for what is visible and writable."""
        if self._spares is not None:
            self._visible, self._key = visible, self._find_key(visible, writable)
            if (spare := self._spares.take(self._key)) is not None:
                self._use(spare)
                return
        for point, folder in self._private.items():
            make_folders(Path(folder))
            mode = _WORLD_WRITABLE if point in self._shared else stat.S_IMODE(os.stat(point).st_mode)
            Path(folder).chmod(mode)

    def _use(self, spare: _Spare) -> None:
        spare.place.rename(self._top)
        stubs = spare.stubs
        for folder in self._find_own():
            before, now = f"{folder}/{spare.name}", f"{folder}/{self._base.name}"
            if before != now and before in stubs:
                os.rename(f"{self._top}/{before}", f"{self._top}/{now}")
                inside = f"{before}/"
                stubs = tuple(
                    now + path[len(before) :] if f"{path}/".startswith(inside) else path for path in stubs
                )
        top = f"{self._top}/"
        self.stubs = tuple(top + path for path in stubs)
        for place in self._private.values():
            # As old as if they were new.
            os.utime(place)

    def _find_own(self) -> list[str]:
        """Return, below the topmost folder, where the mount points of the workspace itself are."""
        above, top = str(self._base.parent), f"{self._top}/"
        places = real_paths([*self._private])
        return [
            folder.removeprefix(top) + above[len(places[point].rstrip("/")) :]
            for point, folder in self._private.items()
            if lies_in(above, [places[point]])
        ]

    def _find_key(self, visible: Sequence[str], writable: Collection[str]) -> _Key:
        own = f"{self._base}/"
        paths = sorted(
            (path.removeprefix(own), path.startswith(own) or os.path.isdir(path), path in writable)
            for path in visible
        )
        folders = ((point, folder.removeprefix(own)) for point, folder in self._private.items())
        return str(self._base.parent), tuple(folders), tuple(paths)

    def note(self, made: Sequence[str], visible: Sequence[str], writable: Collection[str]) -> tuple[str, ...]:
        """Note what the folders are like now that a sandbox made more mount points; return all of these."""
        found, top = (*self.stubs, *made), f"{self._top}/"
        if self._spares is None:
            return found
        self.stubs = tuple(path for path in found if path.startswith(top))
        if visible != self._visible:
            self._key = self._find_key(visible, writable)
        paths = dict.fromkeys((*self._private.values(), *self.stubs))
        self._stamps = {path: stamp_of(os.lstat(path)) for path in paths}
        names: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            folder, _, name = path.rpartition("/")
            names[folder].add(name)
        recent = time.time_ns() - RACY
        self._names = {
            path: names[path]
            for path, stamp in self._stamps.items()
            if max(stamp[:2]) >= recent and stat.S_ISDIR(stamp[3])
        }
        return found

    def give_back(self) -> None:
        """Put the folders aside for another workspace if they are as they were noted, all processes dead."""
        try:
            if self._spares is not None and self._stamps and self._are_untouched():
                top = f"{self._top}/"
                self._spares.put(self._key, self._top, [path.removeprefix(top) for path in self.stubs])
        except OSError:
            # Then they are removed with the workspace.
            return

    def _are_untouched(self) -> bool:
        listed = all({*os.listdir(folder)} == names for folder, names in self._names.items())
        return listed and have_stamps(self._stamps)
