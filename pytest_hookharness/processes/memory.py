"""
This module is concerned with the memory of process hooks: the state as text, for whoever comes after a crash.

Middle floor. Pure; writing the text down, all of it or nothing, is the business of others. Values are written
by the names of their fields and read back by the types of these, so that a text that does not fit is found.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from typing import Any, get_args, get_origin, get_type_hints

from pytest_hookharness.processes.state import State


class MemoryLost(ValueError):
    """
    What was written down cannot be read back.
    """


def write_memory(state: State) -> str:
    """
    The state as JSON.
    """
    return json.dumps(dataclasses.asdict(state))


def read_memory(text: str) -> State:
    """
    The state that was written.

    Raises:
        MemoryLost: The text is not one that was written for this purpose.
    """
    try:
        state = _read(State, json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise MemoryLost(f"the state of the process hooks cannot be read back: {error}") from error
    assert isinstance(state, State)  # noqa: S101  # for the type checker; _read builds what it is given
    return state


def _read(kind: Any, value: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise TypeError(f"{value!r} is no {kind.__name__}")
        hints = get_type_hints(kind)
        return kind(**{name: _read(hints[name], each) for name, each in value.items()})
    if origin is tuple and inner[1:] == (...,):
        return tuple(_read(inner[0], each) for each in value)
    if origin is tuple:
        return tuple(_read(one, each) for one, each in zip(inner, value, strict=True))
    if origin is Mapping:
        return {name: _read(inner[1], each) for name, each in value.items()}
    if origin is types.UnionType:
        return None if value is None else _read(inner[0], value)
    if kind is float and isinstance(value, int):
        return float(value)
    if isinstance(kind, type) and isinstance(value, kind):
        return value
    raise TypeError(f"{value!r} is no {kind}")
