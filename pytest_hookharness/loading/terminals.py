"""
This module is concerned with the tables of a terminal, and of what is typed on it.

Middle floor.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.loading.shapes import Either, Key, Many, Record, Switch, Text
from pytest_hookharness.loading.words import REGEX
from pytest_hookharness.model.terminals import Terminal, TypedAnswer


def read_switch(there: bool) -> Terminal | None:
    """
    A terminal where nobody types, or none.
    """
    return Terminal() if there else None


def gather_answers(answers: Sequence[TypedAnswer]) -> Terminal:
    """
    A terminal where answers are typed.
    """
    return Terminal(tuple(answers))


TYPED = Record(
    noun="an answer on the terminal",
    keys=(
        Key(name="expect", shape=REGEX, doc="What the question matches.", required=True),
        Key(name="send", shape=Text(), doc="What is typed, each time that it is asked.", required=True),
    ),
    build=TypedAnswer,
)
TERMINAL = Either(
    shapes=(
        Switch(read=read_switch),
        Many(
            noun="a list of answers on the terminal",
            item=TYPED,
            at_least=1,
            gather=gather_answers,
        ),
    )
)
