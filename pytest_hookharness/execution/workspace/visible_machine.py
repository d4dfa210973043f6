"""
What a simulation sees of the developer's machine: environment, search path, visible and hidden files.

Only the search path of the developer's environment is taken over, so that no token, setting or half of a
repository leaks into a hook.

A command is hidden by a replacement for its folder on the search path, with links to everything else in it.
Leaving the whole folder out would hide its other commands too, and a guard hook that then stays silent would
do so for the wrong reason.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from pytest_hookharness.execution.paths import PACKAGE, WorkspaceError, lies_in, make_folders
from pytest_hookharness.execution.platform import linux, linux_namespaces
from pytest_hookharness.execution.workspace.test_doubles import home_of_module
from pytest_hookharness.execution.workspace.user_home import find_programs
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.scenario import Scenario

_FIXED: Mapping[str, str] = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "TERM": "dumb",
    "TZ": "UTC",
    "SHELL": "/bin/sh",
    "USER": "agent",
    "LOGNAME": "agent",
    # In each run npm writes a log that is named after the time, so that no state would ever repeat, and waits
    # for news about its versions.
    "npm_config_logs_max": "0",
    "npm_config_update_notifier": "false",
}
# Without these, npm and pip try for up to minutes to reach a network that is not there.
_OFFLINE: Mapping[str, str] = {"npm_config_offline": "true", "UV_OFFLINE": "true", "PIP_RETRIES": "0"}


def host_environment(
    *,
    path: str,
    root: str,
    home: str,
    tmp: str,
    top: str,
    doubles: str,
    given: Mapping[str, str],
    network: bool = False,
) -> dict[str, str]:
    """Return the environment of the host itself; the test doubles stay first on the search path."""
    return {
        **_FIXED,
        **({} if network else _OFFLINE),
        "HOME": home,
        "TMPDIR": tmp,
        "PWD": root,
        **{name: value.replace(WORKSPACE, top) for name, value in given.items()},
        "PATH": f"{doubles}{os.pathsep}{path}" if path else doubles,
    }


def search_path(path: str) -> tuple[str, ...]:
    """Return the absolute folders of a search path, each once; a relative one would mean the workspace."""
    return tuple(dict.fromkeys(folder for folder in path.split(os.pathsep) if folder.startswith("/")))


def find_visible_paths(scenario: Scenario, private: Collection[str], homes: Collection[str]) -> list[str]:
    """List the developer's files that must stay visible, if they exist, where private places hide them."""
    found = [sys.prefix, sys.base_prefix]
    found += [str(folder) for folder in (scenario.project, scenario.plugin) if folder is not None]
    # The programs of the harness that run beside hooks; nothing is shown where the package is seen anyway.
    shown = scenario.fake_agents or scenario.parallel or lies_in(PACKAGE, private)
    found += [*scenario.reach, *([str(PACKAGE)] if shown else [])]
    found += [word for word in scenario.shell.split()[:1] if word.startswith("/")]
    found += [home_of_module(double.module) for double in scenario.commands.values() if double.module]
    if scenario.origin is not None:
        found.append(str(scenario.origin.file.absolute().parent))
    path = (*search_path(os.environ.get("PATH", "")), *search_path(scenario.env.get("PATH", "")))
    found += [_home_of(folder) for folder in path if lies_in(folder, private)]
    found += [needed for home in homes for needed in find_programs(home, path)]
    # The folders of modules in use, as of a package that is installed as a link to its sources.
    found += [folder for folder in search_path(os.pathsep.join(sys.path)) if lies_in(folder, homes)]
    return found


def identify_machine(paths: Iterable[str], *, mounts: bool) -> tuple[object, ...]:
    """Return what tells the machine from another one: variables, places of modules, mounts, these paths."""
    found: list[object] = [os.environ.get(name) for name in ("PATH", "HOME")]
    found += [tuple(sys.path), linux_namespaces.mount_table() if mounts else b""]
    for path in dict.fromkeys(paths):
        try:
            seen = os.stat(path)
        except OSError:
            found.append(path)
        else:
            found.append((path, seen.st_dev, seen.st_ino, seen.st_mode, seen.st_uid, seen.st_gid))
    return tuple(found)


def check_cover(folder: str, base: Path) -> None:
    """Raise a `WorkspaceError` if a folder cannot be covered by a workspace below ``base``."""
    if not folder.startswith("/"):
        raise WorkspaceError(folder, "cannot be covered; use an absolute path")
    real = os.path.realpath(folder)
    if lies_in(os.path.realpath(base), [real]):
        reason = f"the harness writes below it ({base})"
        raise WorkspaceError(folder, f"cannot be covered, for {reason}; cover the folder that hooks use")
    if linux.is_kernel_folder(real):
        reason = "the kernel changes it all the time"
        raise WorkspaceError(folder, f"cannot be covered, for {reason}; cover the folder that hooks use")


def _home_of(folder: str) -> str:
    # The programs of a virtual environment do not work without the rest of it.
    parent = os.path.dirname(folder)
    return parent if os.path.exists(os.path.join(parent, "pyvenv.cfg")) else folder


@dataclass(frozen=True, slots=True)
class HiddenCommands:
    """A search path without some commands: its folders, and the original of each replacement."""

    names: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    replaced: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def plan(cls, names: Sequence[str], path: str, place: Path) -> HiddenCommands:
        """Plan a search path without some commands; ``place`` is where replacements will be made."""
        folders: list[str] = []
        made: dict[str, str] = {}
        for folder in path.split(os.pathsep):
            if folder and any(os.path.lexists(os.path.join(folder, name)) for name in names):
                # On many systems /bin and /usr/bin are one.
                real = os.path.realpath(folder)
                folders.append(made.setdefault(real, str(place / str(len(made)))))
            else:
                folders.append(folder)
        return cls(tuple(names), tuple(folders), {replacement: real for real, replacement in made.items()})

    @property
    def path(self) -> str:
        """The new search path."""
        return os.pathsep.join(self.folders)

    def make(self) -> None:
        """Make the replacements; raise `WorkspaceError` if they hide more or less than they should."""
        for replacement, folder in self.replaced.items():
            make_folders(Path(replacement))
            for name in os.listdir(folder):
                if name not in self.names:
                    os.symlink(os.path.join(folder, name), os.path.join(replacement, name))
            # Compared with the folder itself: a name that could not be linked would hide another command.
            gone = {*os.listdir(folder)}.difference(os.listdir(replacement))
            if not gone <= {*self.names}:
                problem = f"hides {', '.join(sorted(gone))}; only {self.names} should be"
                raise WorkspaceError(replacement, problem)
        for folder in self.folders if self.names else ():
            for name in self.names:
                if os.path.lexists(os.path.join(folder, name)):
                    raise WorkspaceError(folder, f"still has the hidden {name}; hide another command")
