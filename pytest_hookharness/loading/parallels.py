"""
This module is concerned with the table of parallel fires.

Middle floor.
"""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.loading import patterns
from pytest_hookharness.loading.shapes import Either, Key, Many, Record, Switch, Text, Values, Whole
from pytest_hookharness.loading.words import DURATION, EVENT, INSIDE, WORDS
from pytest_hookharness.model.parallels import Counted, Parallel

_WIDEST, _MOST_WAVES = 64, 8
_EITHER = {"not": {"required": ["json", "lines"]}}


def check_counted(values: Values) -> Iterator[tuple[str, str]]:
    """
    A count is of lines or of JSON.
    """
    if "lines" in values and "json" in values:
        yield "lines", "a count has lines or json, not both; write two counts"


def make_counted(*, file: str, json: str = "", lines: bool = True) -> Counted:
    """
    A count of lines, unless it is said where in its JSON it stands.
    """
    del lines  # what else could count is said by the other key
    return Counted(file=file, json=json)


COUNTED = Record(
    noun="a count",
    keys=(
        Key(name="file", shape=INSIDE, doc="The file in which fires are counted.", required=True),
        Key(
            name="json",
            shape=Text(noun="keys with dots between them", pattern=patterns.WORDS, example="calls.total"),
            doc="Where in its JSON: a number, or what has a length.",
        ),
        Key(name="lines", shape=Switch(), doc="Its lines count, as they do if nothing else is said."),
    ),
    build=make_counted,
    check=check_counted,
    besides=_EITHER,
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
