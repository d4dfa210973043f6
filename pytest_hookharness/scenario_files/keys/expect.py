"""Table of expectations: the keys under ``expect``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.model import expectations
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.verdicts import VERDICTS
from pytest_hookharness.scenario_files.keys.common import EVENT, INSIDE, REGEX, TEXTS, WORDS, record_of
from pytest_hookharness.scenario_files.keys.moves import MOVES_ALONE, check_acts, gather_acts
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Many,
    Named,
    Text,
    Values,
    Whole,
    either,
)


def check_range(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem if the maximum is below the minimum."""
    if "min" in values and "max" in values and values["min"] > values["max"]:
        yield "max", f"max {values['max']} is below min {values['min']}"


EXACTLY = Whole(read=expectations.Range.exactly)
BOUNDS = record_of(expectations.Range, "a range", check=check_range, at_least=1)
RANGE = either(EXACTLY, BOUNDS)
BLOCKS = either(
    EXACTLY,
    replace(BOUNDS, known_by=frozenset(key.name for key in BOUNDS.keys)),
    Named(noun="counts by event name", key=EVENT, value=RANGE),
)
POSITIVE = Whole(minimum=1)
PATHS = Many(noun="a list of paths", item=INSIDE)
FILES = record_of(
    expectations.FileExpectations,
    "the workspace at the end",
    {"equal": TEXTS, "contain": TEXTS, "absent": PATHS, "unchanged": PATHS},
)
CAP = either(
    ChoiceShape(
        noun="none or present",
        words=("none", "present"),
        read=lambda word: expectations.CapExpectation(present=word == "present"),
    ),
    record_of(
        expectations.CapExpectation,
        "what the cap does",
        {"overrides": POSITIVE},
        only=("overrides",),
        required=("overrides",),
    ),
)
PROCESSES = record_of(
    expectations.ProcessExpectation,
    "an expectation about process hooks",
    {"threads": Named(noun="counts by process or hook", key=WORDS, value=RANGE), "depth": RANGE},
    at_least=1,
)
# The titles of the detectors; docs/loop-detection.md explains them.
LOOPS = ("repetition", "failures", *(f"cycle of {period}" for period in range(2, 9)))
REGEXES = either(
    replace(REGEX, read=lambda text: (texts.read_regex(text),)),
    Many(noun="a list of regular expressions", item=REGEX),
)
EVENT_OR_DECISION = Text(noun="an event, or event:decision", pattern=texts.EVENT, example="Stop:deny")
OF_LIVELOCK = ("period", "evidence", "way_out")
PATH_OF_MOVES = Many(noun="a list of moves", item=MOVES_ALONE.item, check=check_acts, gather=gather_acts)


def check_expectations(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem for each key that has no meaning with the expected verdict."""
    verdict = values.get("verdict", "terminated")
    for name in OF_LIVELOCK:
        if name in values and verdict != "livelock":
            add = "change it to" if "verdict" in values else "add"
            said = f"{name} applies to a livelock, but the expected verdict is {verdict}"
            yield name, f"{said}; {add} `verdict: livelock`"
    if "way_in" in values and verdict != "lockout":
        yield "way_in", f"way_in applies to a lockout, but the expected verdict is {verdict}"


def make_expectation(**values: object) -> expectations.Expectation:
    """Return the expectation; the default verdict is ``terminated``."""
    return expectations.Expectation(**{"verdict": "terminated", **values})  # type: ignore[arg-type]


# What reports show instead of `terminated`, and a finding that it usually comes with.
_ENDED_OTHERWISE = tuple(
    (
        words,
        f"; reports show it for `terminated` with a finding: expect that, such as `findings: [{finding}]`",
    )
    for words, finding in (("hook not run", "NOT-RUN"), ("hook cut", "HUNG-HOOK"))
)
EXPECT = record_of(
    expectations.Expectation,
    "an expectation",
    {
        "verdict": ChoiceShape(noun="a verdict", words=VERDICTS, meant=_ENDED_OTHERWISE),
        "within": POSITIVE,
        "within_ms": Named(noun="milliseconds by event name", key=EVENT, value=POSITIVE),
        "blocks": BLOCKS,
        "hook_runs": Named(noun="counts by hook", key=WORDS, value=RANGE),
        "decisions": Named(
            noun="lists of decisions by event name",
            key=EVENT,
            value=Many(
                noun="a list of decisions",
                item=ChoiceShape(noun="a decision", words=tuple(ruling.value for ruling in Ruling)),
            ),
        ),
        "period": POSITIVE,
        "cap": CAP,
        "without_cap": ChoiceShape(
            noun="what hooks do without a cap", words=("terminated", "livelock", "undecided")
        ),
        "evidence": ChoiceShape(noun="a kind of evidence", words=("closed", "unread", "driven", "masked")),
        "reasons": REGEXES,
        "told": REGEXES,
        "detectors": Many(noun="a list of loops", item=ChoiceShape(noun="a loop", words=LOOPS)),
        "findings": Many(
            noun="a list of findings",
            item=Text(noun="a finding", pattern=texts.FINDING, example="EARLY-EXIT"),
        ),
        "files": FILES,
        "no_call_after": Whole(noun="a turn"),
        "leftovers": RANGE,
        "sessions": RANGE,
        "depth": RANGE,
        "sometimes": Many(noun="a list of events", item=EVENT_OR_DECISION),
        "effects": Named(noun="lists of paths by event", key=EVENT_OR_DECISION, value=PATHS),
        "way_in": PATH_OF_MOVES,
        "way_out": PATH_OF_MOVES,
        "processes": PROCESSES,
    },
    names={"hook_runs": "fires", "cap": "guard"},
    build=make_expectation,
    check=check_expectations,
)
