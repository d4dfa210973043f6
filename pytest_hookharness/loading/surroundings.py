"""
This module is concerned with the tables of a scenario's surroundings: folders, disks, and what hooks do then.

Middle floor.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from pytest_hookharness.loading import patterns
from pytest_hookharness.loading.shapes import Choice, Either, Key, Many, Named, Record, Switch, Text
from pytest_hookharness.model.faults import Direction, WorkingFolder

_FOLDER = Text(noun="a folder", pattern=patterns.FOLDER, example="src")
_DIRECTIONS = get_args(Direction)


def read_direction(word: str) -> Mapping[str, str]:
    """
    One direction for all hooks.
    """
    return {"": word}


CWD = Either(
    shapes=(
        Text(
            noun=_FOLDER.noun,
            pattern=_FOLDER.pattern,
            example=_FOLDER.example,
            read=WorkingFolder,
        ),
        Record(
            noun="a working folder",
            keys=(
                Key(name="path", shape=_FOLDER, doc="Relative to the workspace, or absolute.", required=True),
                Key(name="removed", shape=Switch(), doc="It is removed before the hook begins."),
            ),
            build=WorkingFolder,
        ),
    )
)
PLACE = Text(noun="a folder's name", pattern=patterns.STEP, example="my project")
STATE_PATHS = Many(
    noun="a list of state paths",
    item=Text(noun="a state path", pattern=patterns.INSIDE, example="workspace/.state"),
    unique=True,
)
ON_FAILURE = Either(
    shapes=(
        Choice(noun="a direction", words=_DIRECTIONS, read=read_direction),
        Named(
            noun="directions by a word of the command",
            key=Text(noun="a word of a command", pattern=patterns.WORDS, example="guard.sh"),
            value=Choice(noun="a direction", words=_DIRECTIONS),
        ),
    )
)
