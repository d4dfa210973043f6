"""
Tables of mutations (``vary``), exploration (``explore``) and parallel hook runs (``parallel``).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.faults import CAUSES
from pytest_hookharness.model.mutations import KINDS, Kind, Shaping, Wish
from pytest_hookharness.model.parallel import CountedIn, Parallel
from pytest_hookharness.scenario_files.keys.common import (
    DURATION,
    EVENT,
    INSIDE,
    JSON_MAPPING,
    WORDS,
    record_of,
)
from pytest_hookharness.scenario_files.keys.script import MOVES_ALONE
from pytest_hookharness.scenario_files.schema import patterns
from pytest_hookharness.scenario_files.schema.shapes import (
    ChoiceShape,
    Either,
    FlagShape,
    Key,
    Many,
    RecordShape,
    Text,
    Values,
    Whole,
)

COMMANDS = Many(
    noun="a list of commands",
    item=Text(noun="a command's name", pattern=patterns.COMMAND, example="jq"),
    unique=True,
)
VARIABLES = Many(
    noun="a list of variables",
    item=Text(noun="a variable's name", pattern=patterns.VARIABLE, example="TMUX"),
    unique=True,
)
PLACES = Many(noun="a list of places", item=Whole(noun="a place", minimum=1), at_least=1, unique=True)
SHAPING = RecordShape(
    noun="a shape of standard input",
    keys=(
        Key(name="reversed", shape=FlagShape(), doc="Whether keys are in reverse order, at every depth."),
        Key(name="extra", shape=JSON_MAPPING, doc="Additional keys, after all others."),
    ),
    build=Shaping,
)


def read_kind(word: str) -> tuple[Wish, ...]:
    """
    Return the wish for a kind without names.
    """
    known: Mapping[str, Wish] = {wish.kind: wish for wish in map(Wish, KINDS)}
    return (known[word],)


def make_wish(**names: tuple[str, ...]) -> tuple[Wish, ...]:
    """
    Return the wishes for kinds with names.
    """
    return tuple(Wish(kind, names[kind]) for kind in KINDS if names.get(kind) is not None)


def gather_wishes(items: Sequence[tuple[Wish, ...] | None]) -> tuple[Wish, ...]:
    """
    Return all wishes of a list.
    """
    return tuple(wish for item in items for wish in item or ())


def check_wishes(items: Sequence[tuple[Wish, ...] | None]) -> Iterator[tuple[int, str]]:
    """
    Yield a problem for each kind that occurs twice.
    """
    seen: set[Kind] = set()
    for index, item in enumerate(items):
        for wish in item or ():
            if wish.kind in seen:
                yield index, f"{wish.kind!r} occurs twice; write it once, with all its names"
            seen.add(wish.kind)


NAMING = RecordShape(
    noun="kinds with names",
    keys=(
        Key(name="tools", shape=COMMANDS, doc="Commands that are missing, fail or hang."),
        Key(name="unset", shape=VARIABLES, doc="Environment variables that are not set."),
        Key(
            name="state",
            shape=Many(noun="a list of files", item=INSIDE, unique=True),
            doc="Files that are damaged between turns.",
        ),
        Key(
            name="faults",
            shape=Many(noun="a list of causes", item=ChoiceShape(noun="a cause", words=CAUSES), unique=True),
            doc="Kinds of faults in the hooks' surroundings.",
        ),
    ),
    build=make_wish,
    at_least=1,
)
VARY = Either(
    shapes=(
        ChoiceShape(
            noun="the word for all kinds",
            words=("all",),
            read=lambda _: tuple(map(Wish, KINDS)),
        ),
        Many(
            noun="a list of kinds",
            item=Either(shapes=(ChoiceShape(noun="a kind", words=KINDS, read=read_kind), NAMING)),
            at_least=1,
            check=check_wishes,
            gather=gather_wishes,
        ),
    )
)


EXPLORE = Either(
    shapes=(
        FlagShape(read=lambda wanted: ExploreOptions() if wanted else None),
        record_of(
            ExploreOptions,
            "limits of an exploration",
            {"moves": MOVES_ALONE, "states": Whole(minimum=1, maximum=10_000)},
            names={"seconds": "time"},
        ),
    )
)


_WIDEST, _MOST_WAVES = 64, 8
_EITHER = {"not": {"required": ["json", "lines"]}}


def check_counted(values: Values) -> Iterator[tuple[str, str]]:
    """
    Yield a problem if a count has both lines and JSON.
    """
    if "lines" in values and "json" in values:
        yield "lines", "a count has lines or json, not both; write two counts"


def make_counted(*, file: str, json: str = "", lines: bool = True) -> CountedIn:
    """
    Return a count of lines, or of a value in JSON if its keys are given.
    """
    del lines  # true in any case: ``json`` alone makes the difference
    return CountedIn(file=file, json=json)


COUNTED = RecordShape(
    noun="a count",
    keys=(
        Key(name="file", shape=INSIDE, doc="The file that counts the hook runs.", required=True),
        Key(
            name="json",
            shape=Text(noun="keys with dots between them", pattern=patterns.WORDS, example="calls.total"),
            doc="Keys down to a number in its JSON, or to a value with a length.",
        ),
        Key(name="lines", shape=FlagShape(), doc="Whether its lines are counted; the default."),
    ),
    build=make_counted,
    check=check_counted,
    besides=_EITHER,
)
PARALLEL = RecordShape(
    noun="parallel hook runs",
    keys=(
        Key(name="event", shape=EVENT, doc="The event that triggers the hooks.", required=True),
        Key(
            name="width",
            shape=Whole(minimum=1, maximum=_WIDEST),
            doc="Number of simultaneous runs of each hook.",
        ),
        Key(name="waves", shape=Whole(minimum=1, maximum=_MOST_WAVES), doc="Number of repetitions."),
        Key(name="apart", shape=DURATION, doc="Time between the starts of two runs."),
        Key(name="hook", shape=WORDS, doc="A word of the command of the only hook that runs."),
        Key(
            name="counts",
            shape=Either(
                shapes=(
                    RecordShape(
                        noun=COUNTED.noun,
                        keys=COUNTED.keys,
                        build=lambda **values: (make_counted(**values),),
                        check=check_counted,
                        besides=_EITHER,
                    ),
                    Many(noun="a list of counts", item=COUNTED, at_least=1),
                )
            ),
            doc="Counters that must include every run.",
            required=True,
        ),
    ),
    build=Parallel,
)
