"""
This module is concerned with the texts that many keys share: paths, events, durations, expressions.

Middle floor.
"""

from __future__ import annotations

from pytest_hookharness.loading import patterns
from pytest_hookharness.loading.shapes import Anything, Either, Named, Number, Text, Whole

WORDS = Text(noun="a text that is not empty", pattern=patterns.WORDS)
INSIDE = Text(
    noun="a path inside the workspace",
    pattern=patterns.INSIDE,
    example="src/app.py",
    read=patterns.read_inside,
)
REGEX = Text(noun="a regular expression", format="regex", example="tests? failed", read=patterns.read_regex)
EVENT = Text(noun="an event name", pattern=patterns.EVENT, example="PreToolUse")
DURATION = Either(
    shapes=(
        Text(
            noun="a duration in ms, s, m, h or d",
            pattern=patterns.DURATION,
            example="301s",
            read=patterns.read_duration,
        ),
        Number(noun="a number of seconds"),
    )
)
TIMES = Whole(noun="a number of times", minimum=1)
JSON_MAPPING = Named(key=Text(), value=Anything())
