"""
Surroundings: what a scenario wants of folders before anything starts in them.

The environment: the variables that a host of a simulation has itself.

Pure. Of the developer's environment only the search path is taken over, so
that no token, no setting and no half of a repository leaks into a hook.

Neighbours: what of the developer's own files hooks must find.

Hiding commands: a search path on which some are missing, and nothing else.

Leaving a whole folder off the path would hide its other commands as well, and a
guard that then stays silent would do so for the wrong reason. So a folder that holds a hidden command is
replaced by one of links to everything else in it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_hookharness.execution.paths import WorkspaceError, lies_in, make_folders
from pytest_hookharness.execution.workspace.test_doubles import PACKAGE, home_of_module
from pytest_hookharness.model.scenario import Scenario

_FIXED: Mapping[str, str] = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "TZ": "UTC",
    "SHELL": "/bin/sh",
    "USER": "agent",
    "LOGNAME": "agent",
}


def host_environment(
    *, path: str, root: str, home: str, tmp: str, doubles: str, given: Mapping[str, str]
) -> dict[str, str]:
    """
    The host's environment.

    Args:
        path: The search path, of which the developer's is the usual one.
        root: The workspace, which is the working folder.
        home: The home folder.
        tmp: The folder for temporary files.
        doubles: The folder of the doubles; it stays first on the search path.
        given: What the scenario sets.
    """
    return {
        **_FIXED,
        "HOME": home,
        "TMPDIR": tmp,
        "PWD": root,
        **given,
        "PATH": f"{doubles}{os.pathsep}{path}" if path else doubles,
    }


def search_path(path: str) -> tuple[str, ...]:
    """
    The absolute folders of a search path, each once; a relative one would mean the workspace.
    """
    return tuple(dict.fromkeys(folder for folder in path.split(os.pathsep) if folder.startswith("/")))


def find_neighbours(scenario: Scenario, private: Collection[str]) -> list[str]:
    """
    What belongs to the developer and must be seen although places are private that may hide it.
    """
    found = [sys.prefix, sys.base_prefix]
    found += [str(folder) for folder in (scenario.project, scenario.plugin) if folder is not None]
    found += [*scenario.reach, *([str(PACKAGE)] if scenario.fake_agents or scenario.parallel else [])]
    found += [home_of_module(double.module) for double in scenario.commands.values() if double.module]
    if scenario.origin is not None:
        found.append(str(scenario.origin.file.absolute().parent))
    path = (*search_path(os.environ.get("PATH", "")), *search_path(scenario.env.get("PATH", "")))
    found += [_home_of(folder) for folder in path if lies_in(folder, private)]
    return [folder for folder in found if os.path.exists(folder)]


def _home_of(folder: str) -> str:
    # The programs of a virtual environment are nothing without the rest of it.
    parent = os.path.dirname(folder)
    return parent if os.path.exists(os.path.join(parent, "pyvenv.cfg")) else folder


@dataclass(frozen=True, slots=True)
class HiddenCommands:
    """
    A search path without some commands.

    Attributes:
        names: The hidden commands.
        folders: The folders of the new path, in order.
        instead: The folders that are stood in for, by their stand-in.
    """

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    instead: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def plan(cls, names: Sequence[str], path: str, place: Path) -> HiddenCommands:
        """
        Plan a path without some commands; nothing is made yet.

        Args:
            names: The commands to hide.
            path: The search path.
            place: Where stand-ins may be made.
        """
        folders: list[str] = []
        stand_ins: dict[str, str] = {}
        for folder in path.split(os.pathsep):
            if folder and any(os.path.lexists(os.path.join(folder, name)) for name in names):
                # On many systems /bin and /usr/bin are one.
                real = os.path.realpath(folder)
                folders.append(stand_ins.setdefault(real, str(place / str(len(stand_ins)))))
            else:
                folders.append(folder)
        return cls(tuple(names), tuple(folders), {stand_in: real for real, stand_in in stand_ins.items()})

    @property
    def path(self) -> str:
        """
        The new search path.
        """
        return os.pathsep.join(self.folders)

    def make(self) -> None:
        """
        Make the stand-ins, and prove that they hide what they should and nothing else.

        Raises:
            WorkspaceError: They cannot be made, or hide more or less than they should.
        """
        for stand_in, folder in self.instead.items():
            make_folders(Path(stand_in))
            for name in os.listdir(folder):
                if name not in self.names:
                    os.symlink(os.path.join(folder, name), os.path.join(stand_in, name))
            gone = {*os.listdir(folder)}.difference(os.listdir(stand_in))
            if not gone <= {*self.names}:
                raise WorkspaceError(
                    stand_in, f"hides {', '.join(sorted(gone))}; only {self.names} should be"
                )
        for folder in self.folders if self.names else ():
            for name in self.names:
                if os.path.lexists(os.path.join(folder, name)):
                    raise WorkspaceError(folder, f"has the hidden {name} all the same; hide another command")


def furnish_surroundings(
    scenario: Scenario, in_workspace: Callable[[str], Path], locate: Callable[[str], Path]
) -> None:
    """
    Make the folders that hooks start in and those without room, and look for those that are read-only.

    Args:
        scenario: The scenario.
        in_workspace: Gives the place of a path below the workspace.
        locate: Gives the place of a state path.

    Raises:
        WorkspaceError: A folder cannot be what the scenario wants.
    """
    cwd = scenario.cwd
    if cwd is not None and not cwd.removed and not cwd.path.startswith("/"):
        make_folders(in_workspace(cwd.path))
    for path in scenario.full:
        folder = locate(path)
        make_folders(folder)
        if any(folder.iterdir()):
            raise WorkspaceError(
                folder, "is not empty, and a full disk would hide what it holds (`world.full`)"
            )
    for path in scenario.readonly:
        if not locate(path).exists():
            raise WorkspaceError(path, "is not there, so it cannot be made read-only (`world.readonly`)")
