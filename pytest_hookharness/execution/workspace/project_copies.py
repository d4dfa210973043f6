"""
Copies of projects that are used by one session after the other.

To copy thousands of files, to commit and to remove them takes ten times as long as a short session. So a copy
is moved into the workspace, and after the session it is moved out and everything that changed is undone.

What changed is known by the status that the kernel keeps of each path. No program can set the time of its
last change, so a file to which a hook gave its old size and modification time is found too. Where the sandbox
contained every write, only paths that the system reported as touched are looked at.
"""

from __future__ import annotations

import os
import shutil
import stat
import threading
import time
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_hookharness.execution.paths import (
    WorkspaceError,
    confine,
    make_folders,
    remove_folder,
    write_bytes,
)
from pytest_hookharness.execution.platform.linux_inotify import InotifyPool
from pytest_hookharness.execution.snapshots.snapshot import Snapshot, SnapshotError, Snapshots
from pytest_hookharness.execution.state.standing_watch import StandingWatch, take_watch
from pytest_hookharness.execution.workspace.disposal import Disposal
from pytest_hookharness.execution.workspace.project_files import (
    IgnoredFiles,
    commit_all,
    copy_project,
    run_git,
)
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.time_budget import BudgetEnded, granted

if TYPE_CHECKING:
    from pytest_hookharness.model.trace import State

# Seconds. The files that git made are as old as the copy, which hooks can see. A new copy of a large project
# takes some seconds itself, so what asks for minutes cannot tell the two apart.
_MAX_AGE = 60.0
# Seconds, for all that a session may have changed.
_RESTORING = 10.0
# Copies that wait for a session; more would only fill the disk.
_MOST_IDLE = 4


@dataclass(slots=True, eq=False)
class ProjectCopy:
    """
    One copy.

    Attributes:
        key: What it was made from; equal keys give equal copies.
        folder: Where it is while no session uses it.
        ignored: The files that were not copied.
        snapshots: The snapshots of the folder.
        snapshot: What it holds when a session begins.
        watch: The watch on it, with what a scan found in it when the last session began.
        made: When it was made, by the monotonic clock.
        state: A state of an earlier session, which has most of its files.
    """

    key: Hashable
    folder: Path
    ignored: IgnoredFiles
    snapshots: Snapshots
    snapshot: Snapshot
    watch: StandingWatch
    made: float = field(default_factory=time.monotonic)
    state: State | None = None


def project_of(scenario: Scenario) -> tuple[Hashable, Callable[[Path], IgnoredFiles]]:
    """
    Return a key of a scenario's project, and a function that makes its files in an empty folder.

    The key has all that decides about the files. The function raises `WorkspaceError` where the scenario asks
    for something that cannot be made.
    """

    def make(top: Path) -> IgnoredFiles:
        project = scenario.project
        ignored = IgnoredFiles(top) if project is None else copy_project(project, top)
        for path, text in scenario.files.items():
            write_file(locate_below(top, path), text)
        make_folders(confine(top / scenario.subfolder, [top]))
        # Deepest first, because a new mode may make a folder inaccessible.
        for path, mode in sorted(scenario.modes.items(), key=lambda item: -item[0].count("/")):
            place = locate_below(top, path)
            if not place.exists():
                raise WorkspaceError(place, f"has no mode to set; write it under `files` (`modes`: {path})")
            place.chmod(mode)
        if scenario.git:
            commit_all(top, excluded=ignored.folders)
        return ignored

    texts = tuple(scenario.files.items()), tuple(scenario.modes.items())
    return (scenario.project, scenario.git, scenario.subfolder, *texts), make


def locate_below(top: Path, path: str) -> Path:
    """Return the place of a path in a scenario; raise `WorkspaceError` if it is not below the workspace."""
    if not path or path.startswith("/") or "\0" in path or ".." in path.split("/"):
        problem = "is not a path below the workspace; allowed is no leading / and no .."
        raise WorkspaceError(path or "(no path)", problem)
    return confine(top / path, [top])


def write_file(place: Path, text: str) -> None:
    """Write a text of a scenario; a script becomes executable."""
    fresh = not place.exists()
    write_bytes(place, text.encode("utf-8", "surrogateescape"))
    if text.startswith("#!") or fresh:
        place.chmod(0o755 if text.startswith("#!") else 0o644)


class ProjectCopies(AbstractContextManager["ProjectCopies"]):
    """
    The copies below one folder, which is removed when this is closed. Any thread may use it.

    The folder must be on the file system of the workspaces. This is sound only where no process of a session
    survives it. What is left of copies is removed at the end, by several threads: a session does not wait for
    it, and a large copy could take a fifth of the time of a check.
    """

    def __init__(self, folder: Path, seconds: float) -> None:
        """``seconds`` is what the first copy may take, however little time its session has."""
        self._folder = folder
        self._disposal = Disposal(folder / "removed")
        self._seconds = seconds
        self._idle: list[ProjectCopy] = []
        self._number = 0
        self._lock = threading.Lock()

    def lend(
        self, key: Hashable, target: Path, make: Callable[[Path], IgnoredFiles]
    ) -> tuple[IgnoredFiles, ProjectCopy | None]:
        """
        Put a copy at a place, where an empty folder is.

        Args:
            key: Names everything that decides what ``make`` makes.
            target: The place.
            make: Makes a new copy at the place.

        Returns:
            What was not copied, and the copy to be given back; ``None`` if it cannot be used again.
        """
        with self._lock:
            found = next((one for one in self._idle if one.key == key), None)
            if found is not None:
                self._idle.remove(found)
        if found is not None and time.monotonic() - found.made > _MAX_AGE:
            self._discard(found)
            found = None
        if found is not None:
            target.rmdir()
            found.watch.move(str(target))
            return found.ignored, found
        with self._lock:
            self._number += 1
            number = self._number
        # If each session gave up its copy in turn, none would ever be played.
        with granted(self._seconds) if number == 1 else nullcontext():
            return self._make(key, target, make, self._folder / str(number))

    def _make(
        self, key: Hashable, target: Path, make: Callable[[Path], IgnoredFiles], place: Path
    ) -> tuple[IgnoredFiles, ProjectCopy | None]:
        """Make a new copy, and take a snapshot of it at the place where it will wait."""
        ignored = make(target)
        make_folders(place)
        folder = place / "files"
        target.rename(folder)
        snapshots = Snapshots([folder], place / "contents")
        try:
            snapshot = snapshots.take()
        except SnapshotError:
            # Something in it cannot be read, so nobody knows what a session changes.
            return ignored, None
        finally:
            folder.rename(target)
        watch = StandingWatch(take_watch(InotifyPool()), str(target))
        return ignored, ProjectCopy(key, folder, ignored, snapshots, snapshot, watch)

    def give_back(self, copy: ProjectCopy, *, contained: bool) -> None:
        """
        Take a copy from its place, and undo what changed in it; discard it if that cannot be done.

        ``contained`` says whether all possible writes are reported: otherwise a process may give a file
        another name in a folder that nobody watches, and write to it by that name.
        """
        if not contained:
            copy.watch.distrust()
        try:
            copy.watch.move(str(copy.folder))
            # Also after a session that has used up its time: another copy would cost more.
            with granted(_RESTORING):
                differed = copy.snapshots.restore(copy.snapshot, copy.watch.since_restored())
                _refresh_index(copy, differed)
                copy.watch.settle()
        except (OSError, SnapshotError, WorkspaceError, BudgetEnded):
            # Also if the hooks removed the whole folder.
            self._discard(copy)
            return
        with self._lock:
            self._idle.append(copy)
            surplus = self._idle.pop(0) if len(self._idle) > _MOST_IDLE else None
        if surplus is not None:
            self._discard(surplus)

    def __exit__(self, *_: object) -> None:
        """Remove all copies; raise `WorkspaceError` if something could not be removed."""
        for copy in self._idle:
            self._discard(copy)
        # What cannot be removed is tried once more, and reported then.
        with suppress(WorkspaceError):
            self._disposal.close()
        remove_folder(self._folder)

    def _discard(self, copy: ProjectCopy) -> None:
        copy.watch.close()
        with suppress(SnapshotError):
            copy.snapshots.close()
        with suppress(WorkspaceError):
            self._disposal.remove_large(copy.folder.parent)


def _refresh_index(copy: ProjectCopy, differed: Collection[Path]) -> None:
    """Have git take note of the restored files: it would take them for changed ones by their status."""
    wanted, repository = copy.snapshot.entries, Path(copy.watch.folder, ".git")
    restored = (path for path in differed if not path.is_relative_to(repository))
    tracked = any(str(path) in wanted and not stat.S_ISDIR(wanted[str(path)].mode) for path in restored)
    if tracked and shutil.which("git") is not None and os.path.lexists(repository):
        run_git(("update-index", "-q", "--refresh"), copy.folder)
        differed = (*differed, repository, repository / "index")
    if differed:
        copy.snapshot = copy.snapshots.renew(copy.snapshot, differed)


class CopiedFolders:
    """The project and the plugin in one workspace; made for it, or lent."""

    def __init__(self, copies: ProjectCopies | None) -> None:
        """``copies`` is where they are taken from; ``None`` to make and remove each."""
        self._copies = copies
        self._made: dict[str, tuple[IgnoredFiles, Path]] = {}
        self._lent: dict[str, ProjectCopy] = {}
        # Whether each sandbox of the session contained all writes.
        self._contained = False

    def place(self, what: str, key: Hashable, target: Path, make: Callable[[Path], IgnoredFiles]) -> None:
        """
        Put the workspace or the plugin into an empty folder: a lent copy, or new files.

        Raises:
            WorkspaceError: The files cannot be made.
        """
        if self._copies is None:
            self._made[what] = make(target), target
            return
        ignored, copy = self._copies.lend((what, key), target, make)
        self._made[what] = ignored, target
        if copy is not None:
            self._lent[what] = copy

    def give_back(self) -> None:
        """Give back what was lent; the rest is removed with the workspace."""
        for copy in self._lent.values():
            if self._copies is not None:
                self._copies.give_back(copy, contained=self._contained)
        self._lent.clear()

    @property
    def watches(self) -> Mapping[str, StandingWatch]:
        """The watches on the copies by root, for a scanner."""
        return {what: copy.watch for what, copy in self._lent.items()}

    def enter(self, *, contained: bool) -> None:
        """
        Note that hooks can enter the folders from now on.

        ``contained`` is whether the sandbox keeps them from writing where no write is reported; only then
        are there links to the folders that were not copied.
        """
        self._contained = contained
        for files, target in self._made.values() if contained else ():
            files.make_links(target)
        for copy in self._lent.values() if not contained else ():
            copy.watch.distrust()

    @property
    def state(self) -> State | None:
        """A state of an earlier session, which has most of the files of this one."""
        return next((copy.state for copy in self._lent.values() if copy.state is not None), None)

    @state.setter
    def state(self, state: State) -> None:
        for copy in self._lent.values():
            copy.state = state

    def describe(self, *, linked: bool) -> Iterator[str]:
        """Yield a sentence for the project and the plugin, where something is ignored."""
        names = {"workspace": "project"}
        found = self._made.items()
        sentences = (files.describe(names.get(what, what), linked=linked) for what, (files, _) in found)
        yield from filter(None, sentences)
