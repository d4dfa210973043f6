"""
This module is concerned with the table of parallel fires.

Middle floor.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.loading.shapes import Either, Key, Many, Record, Switch, Text, Values, Whole
from pytest_hookharness.loading.words import DURATION, EVENT, INSIDE, WORDS
from pytest_hookharness.model.parallels import Counted, Parallel

_WIDEST, _MOST_WAVES = 64, 8


def check_counted(values: Values) -> Iterator[tuple[str, str]]:
    """
    A count is of lines or of JSON.
    """
    if bool(values.get("lines")) == bool(values.get("json")):
        yield "file", "say what counts in it: lines: true, or json: KEY (or KEY.KEY, or . for the whole)"


COUNTED = Record(
    noun="a count",
    keys=(
        Key(name="file", shape=INSIDE, doc="The file in which fires are counted.", required=True),
        Key(
            name="json",
            shape=Text(noun="keys with dots between them", example="calls.total"),
            doc="Where in its JSON: a number, or what has a length.",
        ),
        Key(name="lines", shape=Switch(), doc="Whether its lines count."),
    ),
    build=Counted,
    check=check_counted,
)
PARALLEL = Record(
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
                    Record(
                        noun=COUNTED.noun,
                        keys=COUNTED.keys,
                        build=lambda **values: (Counted(**values),),
                        check=check_counted,
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
