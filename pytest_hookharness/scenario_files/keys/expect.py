"""
The tables of promises: what may stand under ``expect``.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.model.expectations import (
    VERDICTS,
    CapExpectation,
    Expectation,
    FileExpectations,
    ProcessExpectation,
    Range,
)
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.scenario_files.keys.common import EVENT, INSIDE, REGEX, WORDS
from pytest_hookharness.scenario_files.keys.script import MOVES_ALONE, check_acts, gather_acts
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
    Values,
    Whole,
)


def check_range(values: Values) -> Iterator[tuple[str, str]]:
    """
    The ends of a range stand in order.
    """
    if "min" in values and "max" in values and values["min"] > values["max"]:
        yield "max", f"max {values['max']} is below min {values['min']}"


BOUNDS = RecordShape(
    noun="a range",
    keys=(
        Key(name="min", shape=Whole(), doc="At least so often."),
        Key(name="max", shape=Whole(), doc="At most so often."),
    ),
    build=Range,
    check=check_range,
    at_least=1,
)
EXACTLY = Whole(read=Range.exactly)
RANGE = Either(shapes=(EXACTLY, BOUNDS))
BOUNDS_IF_NAMED = RecordShape(
    noun=BOUNDS.noun,
    keys=BOUNDS.keys,
    build=Range,
    check=check_range,
    at_least=1,
    known_by=frozenset(key.name for key in BOUNDS.keys),
)
BLOCKS = Either(
    shapes=(EXACTLY, BOUNDS_IF_NAMED, Named(noun="counts by event name", key=EVENT, value=RANGE)),
)
TEXTS = Named(noun="texts by path", key=INSIDE, value=Text())
PATHS = Many(noun="a list of paths", item=INSIDE)
FILES = RecordShape(
    noun="the workspace at the end",
    keys=(
        Key(name="equal", shape=TEXTS, doc="The whole text of files."),
        Key(name="contain", shape=TEXTS, doc="A passage of files."),
        Key(name="absent", shape=PATHS, doc="Paths where nothing is."),
        Key(name="unchanged", shape=PATHS, doc="Paths that are as they were at the beginning."),
    ),
    build=FileExpectations,
)
GUARD = Either(
    shapes=(
        ChoiceShape(
            noun="a word about the guard",
            words=("none", "present"),
            read=lambda word: CapExpectation(present=word == "present"),
        ),
        RecordShape(
            noun="what the guard does",
            keys=(
                Key(
                    name="overrides",
                    shape=Whole(minimum=1),
                    doc="The refusal that it sets aside, counted from 1.",
                    required=True,
                ),
            ),
            build=CapExpectation,
        ),
    )
)
PROCESSES = RecordShape(
    noun="what is seen of process hooks",
    keys=(
        Key(
            name="threads",
            shape=Named(noun="counts by process or hook", key=WORDS, value=RANGE),
            doc="Threads that were spawned, by process (build) or by hook (build.on_exit).",
        ),
        Key(name="depth", shape=RANGE, doc="The depth of the deepest thread."),
    ),
    build=ProcessExpectation,
    at_least=1,
)
# docs/loop-detection.md says what each of them is.
LOOPS = ("repetition", "failures", *(f"cycle of {period}" for period in range(2, 9)))
REGEXES = Either(
    shapes=(
        Text(
            noun=REGEX.noun,
            format=REGEX.format,
            example=REGEX.example,
            read=lambda text: (patterns.read_regex(text),),
        ),
        Many(noun="a list of regular expressions", item=REGEX),
    )
)
EVENT_OR_RULING = Text(noun="an event, or event:ruling", pattern=patterns.EVENT, example="Stop:deny")
OF_LIVELOCK = ("period", "evidence", "way_out")
WAY = Many(noun="a list of moves", item=MOVES_ALONE.item, check=check_acts, gather=gather_acts)


def check_promises(values: Values) -> Iterator[tuple[str, str]]:
    """
    A promise about a cycle is empty where no cycle is promised.
    """
    verdict = values.get("verdict", "terminated")
    for name in OF_LIVELOCK:
        if name in values and verdict != "livelock":
            yield name, f"{name} is said of a livelock, but the verdict promised is {verdict}"
    if "way_in" in values and verdict != "lockout":
        yield "way_in", f"way_in is said of a lockout, but the verdict promised is {verdict}"


def make_expectation(**values: object) -> Expectation:
    """
    The promise; without a verdict the agent must be able to stop.
    """
    return Expectation(**{"verdict": "terminated", **values})  # type: ignore[arg-type]


EXPECT = RecordShape(
    noun="a promise",
    keys=(
        Key(
            name="verdict",
            shape=ChoiceShape(noun="a verdict", words=VERDICTS),
            doc="What the simulation must find.",
        ),
        Key(name="within", shape=Whole(minimum=1), doc="Turns since the first prompt, at most."),
        Key(
            name="within_ms",
            shape=Named(noun="milliseconds by event name", key=EVENT, value=Whole(minimum=1)),
            doc="Milliseconds that 95 % of the fires of each hook may take, of fewer than 20 fires all.",
        ),
        Key(name="blocks", shape=BLOCKS, doc="Refusals that the host honoured: in all, or by event."),
        Key(
            name="fires",
            field="hook_runs",
            shape=Named(noun="counts by hook", key=WORDS, value=RANGE),
            doc="Fires, by a word of the hook's command or by event name.",
        ),
        Key(
            name="decisions",
            shape=Named(
                noun="lists of rulings by event name",
                key=EVENT,
                value=Many(
                    noun="a list of rulings",
                    item=ChoiceShape(noun="a ruling", words=tuple(ruling.value for ruling in Ruling)),
                ),
            ),
            doc="The rulings on an event, in order, from the first.",
        ),
        Key(name="period", shape=Whole(minimum=1), doc="Length of the cycle, in turns."),
        Key(name="guard", field="cap", shape=GUARD, doc="What is said about the host's guard."),
        Key(
            name="evidence",
            shape=ChoiceShape(noun="a kind of evidence", words=("exact", "probed", "masked")),
            doc="How well the livelock is proved.",
        ),
        Key(name="reasons", shape=REGEXES, doc="Each is found in some reason that the agent was given."),
        Key(name="told", shape=REGEXES, doc="Each is found in some text of a hook that the agent was given."),
        Key(
            name="detectors",
            shape=Many(noun="a list of loops", item=ChoiceShape(noun="a loop", words=LOOPS)),
            doc="Loops of the agent's own moves that must be seen; no others may.",
        ),
        Key(
            name="findings",
            shape=Many(
                noun="a list of findings",
                item=Text(noun="a finding", pattern=patterns.FINDING, example="HUNG-HOOK"),
            ),
            doc="Findings that must occur; no others may.",
        ),
        Key(name="files", shape=FILES, doc="The workspace at the end."),
        Key(name="leftovers", shape=RANGE, doc="Processes that were left over."),
        Key(name="sessions", shape=RANGE, doc="Sessions that stand-ins played, in all."),
        Key(name="depth", shape=RANGE, doc="How many of these lay within each other."),
        Key(
            name="sometimes",
            shape=Many(
                noun="a list of events",
                item=EVENT_OR_RULING,
            ),
            doc="What must happen at least once, against empty passes.",
        ),
        Key(
            name="effects",
            shape=Named(noun="lists of paths by event", key=EVENT_OR_RULING, value=PATHS),
            doc="Files that hooks change whenever this happens; finding EARLY-EXIT if they do not.",
        ),
        Key(
            name="sessions_alike",
            shape=FlagShape(),
            doc="Each session answers a call as the one before it did; finding STUCK-PHASE if not.",
        ),
        Key(name="way_in", shape=WAY, doc="The shortest way into the lock-out; [] if it begins in it."),
        Key(name="way_out", shape=WAY, doc="The shortest way out of the loop, its stop included."),
        Key(name="processes", shape=PROCESSES, doc="What must be seen of process hooks."),
    ),
    build=make_expectation,
    check=check_promises,
)
