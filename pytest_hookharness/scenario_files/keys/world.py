"""
The tables of a scenario's surroundings: folders, disks, and what hooks do then.

The tables of deliveries: how standard input reaches hooks.

The tables of a terminal, and of what is typed on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from pytest_hookharness.model.delivery import Delivery, Form, Inlet, Terminal, TypedAnswer
from pytest_hookharness.model.mutations import Direction, WorkingFolder
from pytest_hookharness.scenario_files.keys.common import DURATION, EVENT, REGEX
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    FlagShape,
    Key,
    Many,
    Named,
    RecordShape,
    Text,
    Whole,
)

_KEYS = (
    Key(
        name="kind",
        shape=ChoiceShape(noun="a kind of stream", words=tuple(filter(None, get_args(Inlet)))),
        doc="What standard input is connected to.",
    ),
    Key(name="close", shape=FlagShape(), doc="Whether end of file follows; a hook may wait for it."),
    Key(name="chunk", shape=Whole(noun="a number of bytes", minimum=1), doc="Write in such pieces."),
    Key(name="delay", shape=DURATION, doc="Before the first byte and between pieces."),
    Key(
        name="shape",
        shape=ChoiceShape(noun="a shape", words=get_args(Form)),
        doc="What is written: all, nothing, no end of line, the first half, or all behind a BOM.",
    ),
    Key(
        name="size",
        shape=Whole(noun="a number of bytes", maximum=1 << 24),
        doc="Bytes that the input has at least.",
    ),
)
_ONE = RecordShape(noun="a way of writing", keys=_KEYS, build=Delivery)
DELIVERY = RecordShape(
    noun=_ONE.noun,
    keys=(
        *_KEYS,
        Key(
            name="events",
            shape=Named(noun="ways of writing by event", key=EVENT, value=_ONE),
            doc="Ways of single events, in place of this one.",
        ),
    ),
    build=Delivery,
)


def read_switch(there: bool) -> Terminal | None:
    """
    A terminal where nobody types, or none.
    """
    return Terminal() if there else None


def gather_answers(answers: Sequence[TypedAnswer]) -> Terminal:
    """
    A terminal where answers are typed.
    """
    return Terminal(tuple(answers))


TYPED = RecordShape(
    noun="an answer on the terminal",
    keys=(
        Key(name="expect", shape=REGEX, doc="What the question matches.", required=True),
        Key(name="send", shape=Text(), doc="What is typed, each time that it is asked.", required=True),
    ),
    build=TypedAnswer,
)
TERMINAL = Either(
    shapes=(
        FlagShape(read=read_switch),
        Many(
            noun="a list of answers on the terminal",
            item=TYPED,
            at_least=1,
            gather=gather_answers,
        ),
    )
)


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
        RecordShape(
            noun="a working folder",
            keys=(
                Key(name="path", shape=_FOLDER, doc="Relative to the workspace, or absolute.", required=True),
                Key(name="removed", shape=FlagShape(), doc="It is removed before the hook begins."),
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
        ChoiceShape(noun="a direction", words=_DIRECTIONS, read=read_direction),
        Named(
            noun="directions by a word of the command",
            key=Text(noun="a word of a command", pattern=patterns.WORDS, example="guard.sh"),
            value=ChoiceShape(noun="a direction", words=_DIRECTIONS),
        ),
    )
)
