"""The tables of campaigns: ``vary`` and the conditions that it changes, ``explore``, and ``parallel``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.model import mutations
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.scenario_files.keys import common
from pytest_hookharness.scenario_files.keys.moves import MOVES_ALONE
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    FlagShape,
    Key,
    Many,
    RecordShape,
    Text,
    Values,
    Whole,
    either,
)

COMMANDS = Many(
    noun="a list of commands",
    item=Text(noun="a command's name", pattern=texts.COMMAND, example="jq"),
    unique=True,
)
VARIABLES = Many(
    noun="a list of variables",
    item=Text(noun="a variable's name", pattern=texts.VARIABLE, example="TMUX"),
    unique=True,
)
SHELLS = Many(
    noun="a list of shells",
    item=Text(noun="a shell", pattern=texts.WORDS, example="/opt/bash-3.2/bin/bash"),
    unique=True,
)
PLACES = Many(noun="a list of places", item=Whole(noun="a place", minimum=1), at_least=1, unique=True)
SHAPING = RecordShape(
    noun="a shape of standard input",
    keys=(
        Key("reversed", FlagShape(), "Keys stand in reverse order, at every depth."),
        Key("extra", common.JSON_MAPPING, "Further keys, after all others."),
    ),
    build=mutations.Shaping,
)


def make_requests(**names: tuple[str, ...]) -> tuple[mutations.VaryRequest, ...]:
    """Return the requests of families with names of what they are about."""
    return tuple(
        mutations.VaryRequest(family, names[family])
        for family in mutations.VARY_FAMILIES
        if names.get(family) is not None
    )


def check_requests(items: Sequence[tuple[mutations.VaryRequest, ...] | None]) -> Iterator[tuple[int, str]]:
    """Yield a problem for each family that is requested a second time."""
    seen: set[str] = set()
    for index, item in enumerate(items):
        for request in item or ():
            if request.family in seen:
                yield index, f"{request.family!r} is asked for twice; name it once, with all its names"
            seen.add(request.family)


NAMING = RecordShape(
    noun="families with names",
    keys=(
        Key("tools", COMMANDS, "Commands that are missing, fail and hang."),
        Key("unset", VARIABLES, "Variables that are not set."),
        Key("shells", SHELLS, "Shells that run the hooks which ask for a shell of that kind."),
        Key(
            "state",
            Many(noun="a list of files", item=common.INSIDE, unique=True),
            "Files that are harmed between turns.",
        ),
        Key(
            "faults",
            Many(
                noun="a list of families of faults",
                item=ChoiceShape(noun="a family of faults", words=mutations.FAULT_FAMILIES),
                unique=True,
            ),
            "Families of faults of the world around hooks.",
        ),
    ),
    build=make_requests,
    at_least=1,
)
VARY = either(
    ChoiceShape(
        noun="the word for all families",
        words=("all",),
        read=lambda _: tuple(map(mutations.VaryRequest, mutations.VARY_FAMILIES)),
    ),
    Many(
        noun="a list of families",
        item=either(
            ChoiceShape(
                noun="a family",
                words=mutations.VARY_FAMILIES,
                read=lambda word: (mutations.VaryRequest(word),),
            ),
            NAMING,
        ),
        at_least=1,
        check=check_requests,
        gather=lambda items: tuple(request for item in items for request in item),
    ),
)


EXPLORE = either(
    FlagShape(read=lambda wanted: ExploreOptions() if wanted else None),
    common.record_of(
        ExploreOptions,
        "limits of an exploration",
        {"moves": MOVES_ALONE, "states": Whole(minimum=1, maximum=10_000)},
        names={"seconds": "time"},
    ),
)


def check_counted(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem for a count of both lines and JSON."""
    if "lines" in values and "json" in values:
        yield "lines", "a count has lines or json, not both; write two counts"


def make_counted(*, file: str, json: str = "", lines: bool = True) -> mutations.CountedIn:
    """Return a count of lines, unless a place in its JSON is named."""
    del lines  # the key `json` alone decides
    return mutations.CountedIn(file=file, json=json)


COUNTED = RecordShape(
    noun="a count",
    keys=(
        Key("file", common.INSIDE, "The file in which hook runs are counted.", required=True),
        Key(
            "json",
            Text(noun="keys with dots between them", pattern=texts.WORDS, example="calls.total"),
            "Where in its JSON: a number, or a value with a length.",
        ),
        Key("lines", FlagShape(), "Its lines are counted, or the number if it holds one: the default."),
    ),
    build=make_counted,
    check=check_counted,
    besides={"not": {"required": ["json", "lines"]}},
)


def check_parallel(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem for counters without an event, and for a distance without counters."""
    if "counts" in values and "event" not in values:
        yield "counts", "counters belong to the hooks of one event; name it with `event`"
    if "apart" in values and "counts" not in values:
        yield "apart", "only counted runs can start apart; name the counters with `counts`"


PARALLEL = RecordShape(
    noun="parallel hook runs",
    keys=(
        Key("event", common.EVENT, "The event whose hooks run (every event)."),
        Key("width", Whole(minimum=1, maximum=64), "How many runs of each hook there are at once (8)."),
        Key("waves", Whole(minimum=1, maximum=8), "How often that is done (1 with `counts`, else 2)."),
        Key("apart", common.DURATION, "Between the starts of two hook runs; takes `counts`."),
        Key("hook", common.WORDS, "A word of the command of the only hook that runs."),
        Key(
            "counts",
            either(
                replace(COUNTED, build=lambda **values: (make_counted(**values),)),
                Many(noun="a list of counts", item=COUNTED, at_least=1),
            ),
            "Counters in which every run must appear. With them the order of their writes is controlled; "
            "without, whatever the hooks write is compared, and a race shows by chance.",
        ),
        Key(
            "different",
            FlagShape(),
            "The runs get the different inputs that the session has sent so far, in turn; without it all get "
            "the same one.",
        ),
    ),
    build=mutations.Parallel,
    check=check_parallel,
    besides={"dependentRequired": {"counts": ["event"], "apart": ["counts"]}},
)
