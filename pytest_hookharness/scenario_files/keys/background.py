"""Tables of process hooks: background processes, their hooks, and the limits on threads."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pytest_hookharness.model.background import (
    BackgroundProcess,
    OnExit,
    OnOutputMatch,
    OnTimeout,
    ProcessHook,
    Rate,
    ThreadLimits,
)
from pytest_hookharness.scenario_files.keys.common import DURATION, INSIDE, REGEX, WORDS, keys_of, record_of
from pytest_hookharness.scenario_files.keys.script import THREAD_SCRIPT
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    Key,
    Many,
    Named,
    RecordShape,
    Text,
    Values,
    Whole,
)

TRIGGERS = {"on_exit": OnExit, "on_output_match": OnOutputMatch, "on_timeout": OnTimeout}
OFF = ChoiceShape(noun="the word off", words=("off",), read=lambda _: None)
THREADS = Whole(noun="a number of threads", minimum=1)
CODE = Whole(noun="an exit code", maximum=255)
CODES = Either(
    shapes=(
        ChoiceShape(noun="the word any", words=("any",), read=lambda _: ()),
        replace(CODE, read=lambda code: (code,)),
        Many(noun="a list of exit codes", item=CODE, at_least=1, unique=True),
    )
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


def make_hook(**values: Any) -> ProcessHook:
    """Return a hook with its trigger."""
    name = next(name for name in TRIGGERS if name in values)
    return ProcessHook(trigger=TRIGGERS[name](values.pop(name)), **values)


HOOK = RecordShape(
    noun="a process hook",
    keys=(
        Key(name="on_exit", shape=CODES, doc="The process ends: `any`, an exit code, or a list of them."),
        Key(name="on_output_match", shape=REGEX, doc="A line of its output matches this."),
        Key(name="on_timeout", shape=DURATION, doc="It runs longer than this."),
        *keys_of(
            ProcessHook,
            {"max_spawns": Either(shapes=(THREADS, OFF)), "script": THREAD_SCRIPT},
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
    key=Text(noun="a process's name", pattern=patterns.NAME, example="build"),
    value=record_of(
        BackgroundProcess,
        "a background process",
        {
            "run": WORDS,
            "related": Many(noun="a list of files", item=INSIDE),
            "hooks": Many(noun="a list of process hooks", item=HOOK),
        },
    ),
)
LIMITS = record_of(
    ThreadLimits,
    "limits on threads",
    {
        "depth": Either(shapes=(Whole(noun="a depth"), OFF)),
        "rate": record_of(Rate, "a rate", {"starts": THREADS}),
        "most": replace(THREADS, maximum=1000),
    },
)
