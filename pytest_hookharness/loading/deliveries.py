"""
This module is concerned with the tables of deliveries: how standard input reaches hooks.

Middle floor.
"""

from __future__ import annotations

from typing import get_args

from pytest_hookharness.loading.shapes import Choice, Key, Named, Record, Switch, Whole
from pytest_hookharness.loading.words import DURATION, EVENT
from pytest_hookharness.model.deliveries import Delivery, Form, Inlet

_KEYS = (
    Key(
        name="kind",
        shape=Choice(noun="a kind of stream", words=tuple(filter(None, get_args(Inlet)))),
        doc="What standard input is connected to.",
    ),
    Key(name="close", shape=Switch(), doc="Whether end of file follows; a hook may wait for it."),
    Key(name="chunk", shape=Whole(noun="a number of bytes", minimum=1), doc="Write in such pieces."),
    Key(name="delay", shape=DURATION, doc="Before the first byte and between pieces."),
    Key(
        name="shape",
        shape=Choice(noun="a shape", words=get_args(Form)),
        doc="What is written: all, nothing, no end of line, the first half, or all behind a BOM.",
    ),
    Key(
        name="size",
        shape=Whole(noun="a number of bytes", maximum=1 << 24),
        doc="Bytes that the input has at least.",
    ),
)
_ONE = Record(noun="a way of writing", keys=_KEYS, build=Delivery)
DELIVERY = Record(
    noun=_ONE.noun,
    keys=(
        *_KEYS,
        Key(
            name="events",
            shape=Named(noun="ways of writing by event", key=EVENT, value=_ONE),
            doc="Ways of single events, in place of this one.",
        ),
    ),
    build=Delivery,
)
