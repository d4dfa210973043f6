"""
This module is concerned with the shape of standard input: the same content, written otherwise.

Middle floor: hosts. Pure. No host promises an order of keys, and any may add one in its next version.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.model.protocol import Json, Payload
from pytest_hookharness.model.variations import Shaping


def shape(payload: Payload, shaping: Shaping) -> Payload:
    """
    An input in another shape.
    """
    content = _reversed(payload) if shaping.reversed else payload
    return {**content, **shaping.extra}


def _reversed(content: Payload) -> dict[str, Json]:
    return {key: _turned(content[key]) for key in reversed([*content])}


def _turned(value: Json) -> Json:
    match value:
        case Mapping():
            return _reversed(value)
        case list() | tuple():
            return [_turned(item) for item in value]
        case _:
            return value
