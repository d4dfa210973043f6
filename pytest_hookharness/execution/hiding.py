"""
This module is concerned with hiding commands: a search path on which some are missing, and nothing else.

Middle floor: execution. Leaving a whole folder off the path would hide its other commands as well, and a
guard that then stays silent would do so for the wrong reason. So a folder that holds a hidden command is
replaced by one of links to everything else in it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
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
