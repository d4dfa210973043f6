"""Tables of the hooks' surroundings: standard input, terminal, working folder, and directions on failure."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

from pytest_hookharness.model.agent_sessions import Nesting
from pytest_hookharness.model.delivery import Delivery, Form, Inlet, Terminal, TypedAnswer
from pytest_hookharness.model.mutations import Direction, WorkingFolder
from pytest_hookharness.model.scenario import Answer
from pytest_hookharness.scenario_files.keys.common import EVENT, REGEX, TIMES, Shapes, record_of
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    FlagShape,
    Many,
    Named,
    Text,
    Whole,
)

_DELIVERY: Shapes = {
    "kind": ChoiceShape(noun="a kind of stream", words=tuple(filter(None, get_args(Inlet)))),
    "chunk": Whole(noun="a number of bytes", minimum=1),
    "shape": ChoiceShape(noun="a shape", words=get_args(Form)),
    "size": Whole(noun="a number of bytes", maximum=1 << 24),
}
_ONE = record_of(Delivery, "settings of standard input", _DELIVERY, without=("events",))
DELIVERY = record_of(
    Delivery,
    _ONE.noun,
    {**_DELIVERY, "events": Named(noun="settings of standard input by event", key=EVENT, value=_ONE)},
)
TERMINAL = Either(
    shapes=(
        FlagShape(read=lambda there: Terminal() if there else None),
        Many(
            noun="a list of answers on the terminal",
            item=record_of(TypedAnswer, "an answer on the terminal", {"expect": REGEX}),
            at_least=1,
            gather=lambda answers: Terminal(tuple(answers)),
        ),
    )
)
_FOLDER = Text(noun="a folder", pattern=patterns.FOLDER, example="src")
CWD = Either(
    shapes=(
        replace(_FOLDER, read=WorkingFolder),
        record_of(WorkingFolder, "a working folder", {"path": _FOLDER}),
    )
)
STATE_PATHS = Many(
    noun="a list of state paths",
    item=Text(noun="a state path", pattern=patterns.INSIDE, example="workspace/.state"),
    unique=True,
)
_DIRECTION = ChoiceShape(noun="a direction", words=get_args(Direction))
ON_FAILURE = Either(
    shapes=(
        replace(_DIRECTION, read=lambda word: {"": word}),
        Named(
            noun="directions by a word of the command",
            key=Text(noun="a word of a command", pattern=patterns.WORDS, example="guard.sh"),
            value=_DIRECTION,
        ),
    )
)
NESTING = record_of(
    Nesting,
    "limits on sessions within sessions",
    {"depth": Whole(minimum=1), "sessions": Whole(minimum=1, maximum=150)},
)
ANSWERS = Many(
    item=record_of(
        Answer,
        "an answer",
        {
            "event": EVENT,
            "type": ChoiceShape(noun="a type of hook", words=("prompt", "http", "agent", "mcp_tool")),
            "times": TIMES,
        },
        required=("reply",),
    )
)
