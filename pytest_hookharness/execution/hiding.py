"""
This module is concerned with hiding commands: a search path on which some are missing, and nothing else.

Middle floor: execution. Leaving a whole folder off the path would hide its other commands as well, and a
guard that then stays silent would do so for the wrong reason. So a folder that holds a hidden command is
replaced by one of links to everything else in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pytest_hookharness.execution.confinement import WorkspaceError, make_folders


@dataclass(frozen=True, slots=True)
class Hiding:
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
    def plan(cls, names: Sequence[str], path: str, place: Path) -> Hiding:
        """
        Plan a path without some commands; nothing is made yet.

        Args:
            names: The commands to hide.
            path: The search path.
            place: Where stand-ins may be made.
        """
        folders: list[str] = []
        instead: dict[str, str] = {}
        for number, folder in enumerate(path.split(os.pathsep)):
            holds = folder and any(os.path.lexists(os.path.join(folder, name)) for name in names)
            stand_in = str(place / str(number))
            folders.append(stand_in if holds else folder)
            if holds:
                instead[stand_in] = folder
        return cls(tuple(names), tuple(folders), instead)

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
            WorkspaceError: They cannot be made, or a command differs that should not.
        """
        if not self.instead:
            return
        for stand_in, folder in self.instead.items():
            make_folders(Path(stand_in))
            for name in os.listdir(folder):
                if name not in self.names:
                    os.symlink(os.path.join(folder, name), os.path.join(stand_in, name))
        originals = [self.instead.get(folder, folder) for folder in self.folders]
        before, after = dict(_commands(originals)), dict(_commands(self.folders))
        for name in before.keys() | after.keys():
            there = name in after
            same = there and name in before and os.path.samefile(before[name], after[name])
            if there if name in self.names else not same:
                raise WorkspaceError(
                    before.get(name, name),
                    f"could not be told apart from the hidden {', '.join(self.names)}; hide another command",
                )


def _commands(folders: Sequence[str]) -> Iterator[tuple[str, str]]:
    """
    Every command that a search path finds; where a name is there twice, the first comes last and so wins.
    """
    for folder in reversed(folders):
        if os.path.isdir(folder):
            for entry in os.scandir(folder):
                if entry.is_file():
                    yield entry.name, entry.path
