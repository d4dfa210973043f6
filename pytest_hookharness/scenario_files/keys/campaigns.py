"""
The table of parallel fires.

The tables of what can be different: the conditions of fires, and ``vary``.

The table of exploration: how far, and with which moves.
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
        Key(name="reversed", shape=FlagShape(), doc="Keys stand in reverse order, at every depth."),
        Key(name="extra", shape=JSON_MAPPING, doc="Further keys, behind all others."),
    ),
    build=Shaping,
)


def read_kind(word: str) -> tuple[Wish, ...]:
    """
    A kind by its word alone.
    """
    known: Mapping[str, Wish] = {wish.kind: wish for wish in map(Wish, KINDS)}
    return (known[word],)


def make_wish(**names: tuple[str, ...]) -> tuple[Wish, ...]:
    """
    Kinds with the names that they are about.
    """
    return tuple(Wish(kind, names[kind]) for kind in KINDS if names.get(kind) is not None)


def gather_wishes(items: Sequence[tuple[Wish, ...] | None]) -> tuple[Wish, ...]:
    """
    All wishes of a list.
    """
    return tuple(wish for item in items for wish in item or ())


def check_wishes(items: Sequence[tuple[Wish, ...] | None]) -> Iterator[tuple[int, str]]:
    """
    No kind twice.
    """
    seen: set[Kind] = set()
    for index, item in enumerate(items):
        for wish in item or ():
            if wish.kind in seen:
                yield index, f"{wish.kind!r} is asked for twice; name it once, with all its names"
            seen.add(wish.kind)


NAMING = RecordShape(
    noun="kinds with names",
    keys=(
        Key(name="tools", shape=COMMANDS, doc="Commands that are missing, fail and hang."),
        Key(name="unset", shape=VARIABLES, doc="Variables that are not set."),
        Key(
            name="state",
            shape=Many(noun="a list of files", item=INSIDE, unique=True),
            doc="Files that are harmed between turns.",
        ),
        Key(
            name="faults",
            shape=Many(noun="a list of causes", item=ChoiceShape(noun="a cause", words=CAUSES), unique=True),
            doc="Kinds of faults of the world around hooks.",
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
    A count is of lines or of JSON.
    """
    if "lines" in values and "json" in values:
        yield "lines", "a count has lines or json, not both; write two counts"


def make_counted(*, file: str, json: str = "", lines: bool = True) -> CountedIn:
    """
    A count of lines, unless it is said where in its JSON it stands.
    """
    del lines  # what else could count is said by the other key
    return CountedIn(file=file, json=json)


COUNTED = RecordShape(
    noun="a count",
    keys=(
        Key(name="file", shape=INSIDE, doc="The file in which fires are counted.", required=True),
        Key(
            name="json",
            shape=Text(noun="keys with dots between them", pattern=patterns.WORDS, example="calls.total"),
            doc="Where in its JSON: a number, or what has a length.",
        ),
        Key(name="lines", shape=FlagShape(), doc="Its lines count, as they do if nothing else is said."),
    ),
    build=make_counted,
    check=check_counted,
    besides=_EITHER,
)
PARALLEL = RecordShape(
    noun="parallel fires",
    keys=(
        Key(name="event", shape=EVENT, doc="The event that wakes the hooks.", required=True),
        Key(
            name="width",
            shape=Whole(minimum=1, maximum=_WIDEST),
            doc="How often each hook is fired at once.",
        ),
        Key(name="waves", shape=Whole(minimum=1, maximum=_MOST_WAVES), doc="How often that is done."),
        Key(name="apart", shape=DURATION, doc="Between the starts of two fires."),
        Key(name="hook", shape=WORDS, doc="A word of the command of the only hook that is fired."),
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
            doc="In what every fire must be counted.",
            required=True,
        ),
    ),
    build=Parallel,
)
