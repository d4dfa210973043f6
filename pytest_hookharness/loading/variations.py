"""
This module is concerned with the tables of what can be different: the conditions of fires, and ``vary``.

Middle floor.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness.loading import patterns
from pytest_hookharness.loading.shapes import Choice, Either, Key, Many, Record, Switch, Text, Whole
from pytest_hookharness.loading.words import INSIDE, JSON_MAPPING
from pytest_hookharness.model.faults import CAUSES
from pytest_hookharness.model.variations import KINDS, Kind, Shaping, Wish

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
SHAPING = Record(
    noun="a shape of standard input",
    keys=(
        Key(name="reversed", shape=Switch(), doc="Keys stand in reverse order, at every depth."),
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


NAMING = Record(
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
            shape=Many(noun="a list of causes", item=Choice(noun="a cause", words=CAUSES), unique=True),
            doc="Kinds of faults of the world around hooks.",
        ),
    ),
    build=make_wish,
    at_least=1,
)
VARY = Either(
    shapes=(
        Choice(
            noun="the word for all kinds",
            words=("all",),
            read=lambda _: tuple(map(Wish, KINDS)),
        ),
        Many(
            noun="a list of kinds",
            item=Either(shapes=(Choice(noun="a kind", words=KINDS, read=read_kind), NAMING)),
            at_least=1,
            check=check_wishes,
            gather=gather_wishes,
        ),
    )
)
