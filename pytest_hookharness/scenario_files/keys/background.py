"""
The tables of process hooks: processes, hooks, and what holds threads back.
"""

from __future__ import annotations

from collections.abc import Iterator
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
from pytest_hookharness.scenario_files.keys.common import DURATION, INSIDE, REGEX, WORDS
from pytest_hookharness.scenario_files.keys.moves import EVENTS, GOING_ON, MOVES
from pytest_hookharness.scenario_files.keys.script import check_acts, gather_script
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    FlagShape,
    Key,
    Many,
    Named,
    RecordShape,
    Tagged,
    Text,
    Values,
    Whole,
)

TRIGGERS = {"on_exit": OnExit, "on_output_match": OnOutputMatch, "on_timeout": OnTimeout}
OFF = ChoiceShape(noun="the word off", words=("off",), read=lambda _: None)
CODE = Whole(noun="an exit code", maximum=255)
CODES = Either(
    shapes=(
        ChoiceShape(noun="the word any", words=("any",), read=lambda _: ()),
        Whole(noun=CODE.noun, maximum=CODE.maximum, read=lambda code: (code,)),
        Many(noun="a list of exit codes", item=CODE, at_least=1, unique=True),
    )
)


def check_hook(values: Values) -> Iterator[tuple[str, str]]:
    """
    A hook has one trigger, and that waits for something.
    """
    found = [name for name in TRIGGERS if name in values]
    if not found:
        yield "", f"a hook needs a trigger: {', '.join(TRIGGERS)}"
    for name in found[1:]:
        yield name, f"a hook has one trigger, and {found[0]} is there already; write two hooks"
    if values.get("on_output_match") == "":
        yield "on_output_match", "an empty expression matches every line; write what a line must hold"
    if values.get("on_timeout") == 0:
        yield "on_timeout", "every process runs longer than no time; give a duration above zero, such as 30s"


def make_hook(**values: Any) -> ProcessHook:
    """
    A hook with its trigger.
    """
    name = next(name for name in TRIGGERS if name in values)
    return ProcessHook(trigger=TRIGGERS[name](values.pop(name)), **values)


HOOK = RecordShape(
    noun="a process hook",
    keys=(
        Key(name="on_exit", shape=CODES, doc="It ends: any, an exit code, or a list of them."),
        Key(name="on_output_match", shape=REGEX, doc="A line of its output holds a match of this."),
        Key(name="on_timeout", shape=DURATION, doc="It runs longer than this."),
        Key(name="instructions", shape=Text(), doc="What the thread is told to do."),
        Key(
            name="max_spawns",
            shape=Either(shapes=(Whole(noun="a number of threads", minimum=1), OFF)),
            doc="Threads that it spawns at most; 1 if not given, off for no limit.",
        ),
        Key(
            name="agent",
            field="script",
            shape=Many(
                noun="a list of moves",
                item=Tagged(
                    noun="a move",
                    tags=(*MOVES, GOING_ON),
                    barred={tag.name: f"{tag.name} is an event; a hook thread makes moves" for tag in EVENTS},
                ),
                at_least=1,
                check=check_acts,
                gather=gather_script,
            ),
            doc="What the agent of the thread does.",
        ),
    ),
    build=make_hook,
    check=check_hook,
    besides={"oneOf": [{"required": [name]} for name in TRIGGERS]},
)
PROCESS = RecordShape(
    noun="a tracked process",
    keys=(
        Key(name="run", shape=WORDS, doc="Its command line.", required=True),
        Key(name="purpose", shape=Text(), doc="Why it exists."),
        Key(name="related", shape=Many(noun="a list of files", item=INSIDE), doc="Files that belong to it."),
        Key(name="summary", shape=Text(), doc="What the thread was about that detached it."),
        Key(name="hooks", shape=Many(noun="a list of process hooks", item=HOOK), doc="Its hooks."),
        Key(name="stop_after", shape=DURATION, doc="When somebody ends it with SIGTERM."),
        Key(
            name="watcher_dies",
            shape=FlagShape(),
            doc="Its watcher is killed while it runs, and started again once it has ended.",
        ),
    ),
    build=BackgroundProcess,
)
PROCESSES = Named(
    noun="processes by name",
    key=Text(noun="a process's name", pattern=patterns.NAME, example="build"),
    value=PROCESS,
)
LIMITS = RecordShape(
    noun="what holds hook threads back",
    keys=(
        Key(
            name="depth",
            shape=Either(shapes=(Whole(noun="a depth"), OFF)),
            doc="How deep hook threads may lie; 3 if not given, off for no limit.",
        ),
        Key(
            name="rate",
            shape=RecordShape(
                noun="a rate",
                keys=(
                    Key(
                        name="starts",
                        shape=Whole(noun="a number of threads", minimum=1),
                        doc="Threads that may be started, those of the person included.",
                        required=True,
                    ),
                    Key(name="per", shape=DURATION, doc="In any stretch of this length.", required=True),
                ),
                build=Rate,
            ),
            doc="The rate limit; none if not given.",
        ),
        Key(
            name="most",
            shape=Whole(noun="a number of threads", minimum=1, maximum=1000),
            doc="The harness's own bound, for threads and for processes; 20 if not given.",
        ),
    ),
    build=ThreadLimits,
)
