"""Tables of the hooks' surroundings: standard input, terminal, folder, direction on failure, processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, get_args

from pytest_hookharness.model import background
from pytest_hookharness.model.agent_sessions import Nesting
from pytest_hookharness.model.delivery import Delivery, Form, Inlet, Terminal, TypedAnswer
from pytest_hookharness.model.mutations import Direction, WorkingFolder
from pytest_hookharness.model.scenario import Answer
from pytest_hookharness.scenario_files.keys import common
from pytest_hookharness.scenario_files.keys.moves import THREAD_SCRIPT
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    FlagShape,
    Key,
    Many,
    Named,
    RecordShape,
    Text,
    Values,
    Whole,
    either,
)

_DELIVERY: common.Shapes = {
    "kind": ChoiceShape(noun="a kind of stream", words=tuple(filter(None, get_args(Inlet)))),
    "chunk": Whole(noun="a number of bytes", minimum=1),
    "shape": ChoiceShape(noun="a shape", words=get_args(Form)),
    "size": Whole(noun="a number of bytes", maximum=1 << 24),
}
_ONE = common.record_of(Delivery, "settings of standard input", _DELIVERY, without=("events",))
DELIVERY = common.record_of(
    Delivery,
    _ONE.noun,
    {**_DELIVERY, "events": Named(noun="settings of standard input by event", key=common.EVENT, value=_ONE)},
)
TERMINAL = either(
    FlagShape(read=lambda there: Terminal() if there else None),
    Many(
        noun="a list of answers on the terminal",
        item=common.record_of(TypedAnswer, "an answer on the terminal", {"expect": common.REGEX}),
        at_least=1,
        gather=lambda answers: Terminal(tuple(answers)),
    ),
)
_FOLDER = Text(noun="a folder", pattern=texts.FOLDER, example="src")
CWD = either(
    replace(_FOLDER, read=WorkingFolder),
    common.record_of(WorkingFolder, "a working folder", {"path": _FOLDER}),
)
STATE_PATHS = Many(
    noun="a list of state paths",
    item=Text(noun="a state path", pattern=texts.INSIDE, example="workspace/.state"),
    unique=True,
)
_DIRECTION = ChoiceShape(noun="a direction", words=get_args(Direction))
ON_FAILURE = either(
    replace(_DIRECTION, read=lambda word: {"": word}),
    Named(
        noun="directions by a word of the command",
        key=Text(noun="a word of a command", pattern=texts.WORDS, example="guard.sh"),
        value=_DIRECTION,
    ),
)
NESTING = common.record_of(
    Nesting,
    "limits on sessions within sessions",
    {"depth": Whole(minimum=1), "sessions": Whole(minimum=1, maximum=150)},
)
ANSWERS = Many(
    item=common.record_of(
        Answer,
        "an answer",
        {
            "event": common.EVENT,
            "type": ChoiceShape(noun="a type of hook", words=("prompt", "http", "agent", "mcp_tool")),
            "times": common.TIMES,
        },
        required=("reply",),
    )
)


TRIGGERS: Mapping[str, Any] = background.TRIGGERS
OFF = ChoiceShape(noun="the word off", words=("off",), read=lambda _: None)
THREADS = Whole(noun="a number of threads", minimum=1)
CODE = Whole(noun="an exit code", maximum=255)
CODES = either(
    ChoiceShape(noun="the word any", words=("any",), read=lambda _: ()),
    replace(CODE, read=lambda code: (code,)),
    Many(noun="a list of exit codes", item=CODE, at_least=1, unique=True),
)


def check_hook(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem if a hook has no trigger or several, or one that always fires."""
    found = [name for name in TRIGGERS if name in values]
    if not found:
        yield "", f"a hook needs a trigger: {', '.join(TRIGGERS)}"
    for name in found[1:]:
        yield name, f"a hook has one trigger, and this one has {found[0]} already; write two hooks"
    if values.get("on_output_match") == "":
        yield "on_output_match", "an empty expression matches every line; write what a line must contain"
    if values.get("on_timeout") == 0:
        yield "on_timeout", "every process runs longer than 0 s; write a longer duration, such as 30s"


def make_hook(**values: Any) -> background.ProcessHook:
    """Return a hook with its trigger."""
    name = next(name for name in TRIGGERS if name in values)
    return background.ProcessHook(trigger=TRIGGERS[name](values.pop(name)), **values)


HOOK = RecordShape(
    noun="a process hook",
    keys=(
        Key("on_exit", CODES, "The process ends: `any`, an exit code, or a list of them."),
        Key("on_output_match", common.REGEX, "A line of its output matches this."),
        Key("on_timeout", common.DURATION, "It runs longer than this."),
        *common.keys_of(
            background.ProcessHook,
            {"max_spawns": either(THREADS, OFF), "script": THREAD_SCRIPT},
            names={"script": "agent"},
            without=("trigger",),
        ),
    ),
    build=make_hook,
    check=check_hook,
    besides={"oneOf": [{"required": [name]} for name in TRIGGERS]},
)
PROCESSES = Named(
    noun="processes by name",
    key=Text(noun="a process's name", pattern=texts.NAME, example="build"),
    value=common.record_of(
        background.BackgroundProcess,
        "a background process",
        {
            "run": common.WORDS,
            "related": Many(noun="a list of files", item=common.INSIDE),
            "hooks": Many(noun="a list of process hooks", item=HOOK),
        },
    ),
)
LIMITS = common.record_of(
    background.ThreadLimits,
    "limits on threads",
    {
        "depth": either(Whole(noun="a depth"), OFF),
        "rate": common.record_of(background.Rate, "a rate", {"starts": THREADS}),
        "most": replace(THREADS, maximum=1000),
    },
)
