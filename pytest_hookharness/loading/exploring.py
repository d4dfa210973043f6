"""
This module is concerned with the table of exploration: how far, and with which moves.

Middle floor.
"""

from __future__ import annotations

from pytest_hookharness.loading.scripts import MOVES_ALONE
from pytest_hookharness.loading.shapes import Either, Key, Record, Switch, Whole
from pytest_hookharness.loading.words import DURATION
from pytest_hookharness.model.exploration import Exploring

_MOST_STATES = 10_000


def make_exploring(*, time: float = 30.0, **values: object) -> Exploring:
    """
    The bounds of an exploration.
    """
    return Exploring(seconds=time, **values)  # type: ignore[arg-type]


EXPLORE = Either(
    shapes=(
        Switch(read=lambda wanted: Exploring() if wanted else None),
        Record(
            noun="an exploration",
            keys=(
                Key(
                    name="moves",
                    shape=MOVES_ALONE,
                    doc="What the agent can do in every state, beside a stop; else what is named somewhere.",
                ),
                Key(
                    name="states",
                    shape=Whole(minimum=1, maximum=_MOST_STATES),
                    doc="Most states that are tried (200).",
                ),
                Key(name="time", shape=DURATION, doc="Most time for all of it (30s)."),
            ),
            build=make_exploring,
        ),
    )
)
