"""
The workspace: everything one simulation may write to, made fresh and removed.

All of it lies below one base folder::

    workspace/  home/  tmp/           what the agent and its hooks work in
    bin/  doubles/                    test doubles, their output and their records
    private/tmp  private/var-tmp  private/shm  private/outside/...
                                      what hooks see as /tmp, /var/tmp, /dev/shm, /dev and the user's home
    recorder/                         the recorder of executed lines, if coverage is wanted
    hidden/                           replacements for folders of PATH that hold a hidden command
    plugin/                           a copy of the scenario's plugin, if it has one
    outside/upper                     what hooks write anywhere else, below its own path; see ``overlay``
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from pytest_hookharness.execution.clock.clock import Clock
from pytest_hookharness.execution.paths import (
    WorkspaceError,
    append_lines,
    confine,
    lies_in,
    make_folders,
    make_new_folder,
    read_bytes,
    remove_folder,
    remove_tree,
)
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.real_paths import real_paths
from pytest_hookharness.execution.state.file_contents import LARGEST
from pytest_hookharness.execution.workspace.agent_tools import AgentShell
from pytest_hookharness.execution.workspace.instruments import Instruments
from pytest_hookharness.execution.workspace.mount_points import MountPoints
from pytest_hookharness.execution.workspace.project_copies import (
    CopiedFolders,
    locate_below,
    project_of,
    write_file,
)
from pytest_hookharness.execution.workspace.project_files import copy_folder, copy_project
from pytest_hookharness.execution.workspace.test_doubles import TestDoubles
from pytest_hookharness.execution.workspace.user_home import find_homes, find_opening
from pytest_hookharness.execution.workspace.visible_machine import (
    HiddenCommands,
    check_cover,
    find_visible_paths,
    host_environment,
    search_path,
)
from pytest_hookharness.model.line_coverage import CoverageStore
from pytest_hookharness.model.scenario import Scenario

if TYPE_CHECKING:
    from pytest_hookharness.execution.workspace.disposal import Disposal
    from pytest_hookharness.execution.workspace.project_copies import ProjectCopies

__all__ = ["OUTSIDE", "Workspace", "WorkspaceError"]

# What begins the state paths of files that were written outside of all other folders.
OUTSIDE = "outside"

# These are hidden from the hooks, not used.
_PRIVATE: Mapping[str, tuple[str, str]] = {
    "/tmp": ("private-tmp", "private/tmp"),
    "/var/tmp": ("private-var-tmp", "private/var-tmp"),
    "/dev/shm": ("shm", "private/shm"),
}
# This one has devices that everybody may use, and nothing else.
_DEVICES = ("/dev",)
_KNOWN = ("workspace", "home", "tmp", "plugin")


class Workspace(AbstractContextManager["Workspace"]):
    """
    The throw-away folders of one simulation.

    Attributes:
        base: The folder that holds all others.
        top: The workspace proper.
        root: The folder in it where the session starts, usually the same.
        bin: The folder of the test doubles, first on PATH.
        doubles: The test doubles, their calls, and the sessions that fake agents played.
        clock: The clock that the hooks and the agent's shell see.
        instruments: The clock, and the recorder of the hooks.
        copied: The copies of project and plugin.
        kept: Whether everything is left in place at the end.
        homes: Home folders of the user; hooks see only what programs need of them, where possible.
        looked_up: Paths of the machine on which it depends what hooks see.
        private: Mount points, and the folders that stand behind them where the tier can do that.
        mount_points: Those folders, with the mount points that a sandbox makes in them.
        visible: Paths that must be reachable at their own place even where such a mount point hides them.
        writable: Those of them that may be written; the others are the developer's.
        outside: The folder for what is written elsewhere, where the tier can do that.
        roots: The covered folders by the name that begins their state paths.
        environment: The host's own environment.
    """

    def __init__(
        self,
        scenario: Scenario,
        base: Path,
        coverage_store: CoverageStore | None = None,
        copies: ProjectCopies | None = None,
        disposal: Disposal | None = None,
    ) -> None:
        # Programs report where they are without the links on the way, as the one to a Mac's temporary files.
        self.base = base = Path(os.path.realpath(base))
        self.top, self.home, self.tmp = base / "workspace" / scenario.place, base / "home", base / "tmp"
        self.root = self.top / scenario.subfolder
        self.doubles = TestDoubles(base / "bin", base / "doubles")
        self.bin = self.doubles.bin
        self.shell = AgentShell(self.doubles.folder / "shell")
        self.plugin = base / "plugin" / scenario.place if scenario.plugin is not None else None
        self.outside = base / "outside"
        covered = [folder for folder in scenario.cover if os.path.exists(folder)]
        self.homes = find_homes(_PRIVATE)
        wanted = find_visible_paths(scenario, {*_PRIVATE, *self.homes}, self.homes)
        self.looked_up = (*self.homes, *wanted)
        visible = [*(path for path in wanted if os.path.exists(path)), *covered]
        hidden = (home for home in self.homes if not find_opening(home, real_paths(visible)))
        self._points = {**_PRIVATE, **{place: _hide(place) for place in (*_DEVICES, *hidden)}}
        self.private: Mapping[str, str] = {
            point: str(base / folder) for point, (_, folder) in self._points.items()
        }
        spares = None if disposal is None else disposal.mount_points
        self.mount_points = MountPoints(base, self.private, _PRIVATE, spares)
        self.roots: Mapping[str, Path] = self._roots(scenario)
        self.clock = Clock(self.doubles.folder / "clock", self.bin, self.roots, scenario.hidden)
        own = (self.top, self.home, self.tmp, self.bin, self.doubles.folder, self.plugin)
        folders = (str(folder) for folder in own if folder is not None)
        path = os.pathsep.join(search_path(os.environ.get("PATH", os.defpath)))
        self._hiding = HiddenCommands.plan(scenario.hidden, scenario.env.get("PATH", path), base / "hidden")
        sources = {self.top: scenario.project, self.plugin: scenario.plugin, self.home: scenario.home_folder}
        recorder = None
        if coverage_store is not None:
            # Most runs record no coverage, and its modules are many.
            from pytest_hookharness.execution.coverage.recorder import Recorder

            recorder = Recorder(coverage_store, scenario.id, sources, base)
        self.instruments = Instruments(self.clock, recorder)
        self.writable = _unique([*folders, *covered, *self.instruments.written])
        shown = [*visible, *self.instruments.seen, *system.devices()]
        self.visible = _unique([*self.writable, *self._hiding.replaced, *shown])
        named = {"root": str(self.root), "home": str(self.home), "tmp": str(self.tmp), "top": str(self.top)}
        path, doubles = self._hiding.path, str(self.bin)
        given, network = scenario.env, scenario.network
        environment = host_environment(path=path, doubles=doubles, given=given, network=network, **named)
        self.environment: Mapping[str, str] = {
            name: value for name, value in environment.items() if name not in scenario.unset
        }
        self.copied = CopiedFolders(copies)
        self._disposal, self.kept = disposal, False

    @classmethod
    def create(
        cls,
        scenario: Scenario,
        base: Path,
        coverage_store: CoverageStore | None = None,
        copies: ProjectCopies | None = None,
        disposal: Disposal | None = None,
    ) -> Self:
        """
        Make a workspace in a new folder below ``base``; raise `WorkspaceError` with nothing left behind.
        """
        for folder in scenario.cover:
            check_cover(folder, base)
        # From here on everything that fails must remove the new folder again.
        workspace = cls(scenario, make_new_folder(base, scenario.name), coverage_store, copies, disposal)
        try:
            workspace._fill(scenario)
        except OSError as error:
            workspace.close()
            where = error.filename or workspace.base
            raise WorkspaceError(str(where), f"cannot be made: {error.strerror or error}") from error
        except UnicodeEncodeError as error:
            workspace.close()
            raise WorkspaceError(workspace.base, f"a text cannot be written as UTF-8: {error}") from error
        except BaseException:
            workspace.close()
            raise
        return workspace

    @cached_property
    def folders(self) -> tuple[tuple[str, str], ...]:
        """Absolute paths of the folders that hooks know, each with the name that begins its state paths."""
        known = {name: self.roots[name] for name in _KNOWN if name in self.roots}
        # Where a parent is a symbolic link, programs print the folder that it leads to.
        real = real_paths(known.values())
        paths = ((path, name) for name, folder in known.items() for path in (str(folder), real[str(folder)]))
        return tuple(dict.fromkeys(paths))

    def _roots(self, scenario: Scenario) -> dict[str, Path]:
        roots = {"workspace": self.top, "home": self.home, "tmp": self.tmp, "bin": self.bin}
        roots["doubles"] = self.doubles.counters
        if self.plugin is not None:
            roots["plugin"] = self.plugin
        roots |= {name: Path(self.private[point]) for point, (name, _) in self._points.items()}
        roots[OUTSIDE] = self.outside / "upper"
        return roots | {os.path.normpath(folder): Path(folder) for folder in scenario.cover}

    @cached_property
    def written(self) -> tuple[Path, ...]:
        """All folders that change during one simulation, with the records of the test doubles."""
        every = {str(folder): folder for folder in (*self.roots.values(), self.doubles.folder)}
        return tuple(folder for folder in every.values() if every.keys().isdisjoint(map(str, folder.parents)))

    def clear_overlay(self) -> None:
        """
        Remove the files of an overlay that is no longer mounted; raise `WorkspaceError` if some are left.
        """
        for folder in (self.outside / "root", self.outside / "work"):
            left = remove_tree(folder)
            if left:
                raise WorkspaceError(folder, f"is not empty: {left[0]}; is a sandbox still open?")

    def _fill(self, scenario: Scenario) -> None:
        for folder in (self.top, self.home, self.tmp, self.roots[OUTSIDE]):
            make_folders(folder)
        self.mount_points.make(self.visible, self.writable)
        key, make = project_of(scenario)
        self.copied.place("workspace", key, self.top, make)
        if scenario.plugin is not None and self.plugin is not None:
            make_folders(self.plugin)
            make = partial(copy_project, scenario.plugin)
            self.copied.place("plugin", scenario.plugin, self.plugin, make)
        if scenario.home_folder is not None:
            copy_folder(scenario.home_folder, self.home)
        for path, text in scenario.home.items():
            write_file(confine(self.home / path, [self.home]), text)
        self._prepare_folders(scenario)
        self.doubles.write(scenario)
        self._hiding.make()

    def _prepare_folders(self, scenario: Scenario) -> None:
        """Make the folders that hooks start in and those without room, and check those that are read-only."""
        cwd = scenario.cwd
        if cwd is not None and not cwd.removed and not cwd.path.startswith("/"):
            make_folders(locate_below(self.top, cwd.path))
        for folder in map(self.locate, scenario.full):
            make_folders(folder)
            if any(folder.iterdir()):
                problem = "is not empty, and a full disk would hide what it holds (`full`)"
                raise WorkspaceError(folder, problem)
        for path in scenario.readonly:
            if not self.locate(path).exists():
                raise WorkspaceError(path, "does not exist, so it cannot be made read-only (`readonly`)")

    def locate(self, state_path: str) -> Path:
        """
        Return the place of a state path or of a covered folder; raise `WorkspaceError` for another path.
        """
        name = next((name for name in self.roots if f"{state_path}/".startswith(name + "/")), None)
        if name is None:
            allowed = ", ".join(self.roots)
            raise WorkspaceError(state_path, f"is not a state path; it begins with one of {allowed}")
        return confine(self.roots[name] / state_path[len(name) + 1 :], self.roots.values())

    def read(self, state_path: str) -> str | None:
        """
        Return the text of a covered file; ``None`` for no file. Raise `WorkspaceError` if it is not UTF-8.
        """
        data = read_bytes(path := self.locate(state_path), most=LARGEST)
        try:
            return None if data is None else data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise WorkspaceError(path, f"is not UTF-8 text: {error.reason} at byte {error.start}") from error

    def write_transcript(self, path: str | Path, lines: Iterable[Mapping[str, Any]]) -> bool:
        """Append lines of JSON to a file, as `append_lines` does; it must lie in the workspace's folders."""
        missing = append_lines(confine(path, [self.base]), lines)
        self.clock.set_time_of(path)
        return missing

    def make_folder(self, path: Path) -> None:
        """Make a folder as the host does, if it is missing; raise `WorkspaceError` if that fails."""
        try:
            make_folders(confine(path, [self.base]))
        except OSError as error:
            raise WorkspaceError(path, f"cannot be made: {error.strerror}") from error

    def present(self, folder: str) -> str:
        """Return a folder, or the workspace if the folder lies in it and is gone."""
        # A folder outside of the workspace may exist in the sandbox alone.
        gone = lies_in(folder, [self.root]) and not os.path.isdir(folder)
        return str(self.root) if gone else folder

    def keep(self) -> Path:
        """Leave everything in place when the workspace is closed; return where it is."""
        self.kept = True
        return self.base

    def close(self) -> None:
        """Remove everything, now or later, unless it is kept; raise `WorkspaceError` if something is left."""
        self.instruments.close()
        if not self.kept:
            self.copied.give_back()
            self.mount_points.give_back()
            (remove_folder if self._disposal is None else self._disposal.remove)(self.base)

    def __exit__(self, *_: object) -> None:
        self.close()


def _hide(place: str) -> tuple[str, str]:
    """Return the name in state paths, and the folder, of what stands in for a folder of the machine."""
    return f"{OUTSIDE}{place}", f"private/{OUTSIDE}{place}"  # as for all else that is written outside


def _unique(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(paths))
