"""
This module is concerned with excerpts: texts of any length, and other values, as JSON of a known size.

Middle floor: reports. Pure. An excerpt is an object of its own, which says how much of a text it holds; what
is no character is replaced, and that is said too.
"""

from __future__ import annotations

import dataclasses
import enum
import json
import math
import re
from collections.abc import Mapping
from pathlib import PurePath
from typing import TypeAlias

from pytest_hookharness.model.processes import Output
from pytest_hookharness.model.protocol import Json

Record: TypeAlias = dict[str, Json]

# Bytes of one text, and items of one list, that a record holds at most.
LONGEST = 64 << 10
MOST = 1000
_REPLACED = "\N{REPLACEMENT CHARACTER}"
_HALVES = re.compile("[\ud800-\udfff]")


def excerpt(text: str, size: int | None = None) -> Record:
    """
    A text as an object.

    Args:
        text: All that is known of it.
        size: How many bytes it has in all, if more than are known.
    """
    told = _HALVES.sub(_REPLACED, text)
    known = len(told.encode())
    return {
        "text": told,
        "bytes": known if size is None else size,
        "cut_at": known if size is not None and size > known else None,
        "replaced": told != text,
    }


def of_bytes(data: bytes, size: int | None = None) -> Record:
    """
    Bytes as the text that they are, or nearly are.
    """
    text = data.decode("utf-8", "replace")
    total = len(data) if size is None else size
    replaced = _REPLACED in text and text.encode() != data
    return {
        "text": text,
        "bytes": total,
        "cut_at": len(data) if total > len(data) else None,
        "replaced": replaced,
    }


def of_output(output: Output) -> Record:
    """
    An output stream.
    """
    return of_bytes(output.data, max(output.total, len(output.data)))


def of_json(value: object) -> Record:
    """
    A value whose form is somebody else's, as the text of its JSON.
    """
    return excerpt(json.dumps(as_data(value), ensure_ascii=False))


def as_data(value: object) -> Json:
    """
    A value of the model as JSON: its attributes by their names.
    """
    match value:
        case None | bool() | int() | float() | str():
            return value
        case enum.Enum():
            return as_data(value.value)
        case bytes():
            return value.decode("utf-8", "replace")
        case PurePath():
            return str(value)
        case Mapping():
            return {str(key): as_data(item) for key, item in value.items()}
        case tuple() | list() | frozenset():
            return [as_data(item) for item in value]
        case _ if dataclasses.is_dataclass(value):
            fields = dataclasses.fields(value)
            return {field.name: as_data(getattr(value, field.name)) for field in fields}
        case _:
            return str(value)


def bound(value: Json, longest: int = LONGEST) -> Json:
    """
    The same with no text longer, and no list of more items, than is allowed; an excerpt says what was cut.
    """
    match value:
        case str():
            return _cut(value, longest)
        case float() if not math.isfinite(value):
            return None
        case Mapping():
            whole = {_cut(key, longest): bound(item, longest) for key, item in [*value.items()][:MOST]}
            text = whole.get("text")
            if "cut_at" in whole and text != value["text"]:
                whole["cut_at"] = len(str(text).encode())
            return whole
        case list() | tuple():
            return [bound(item, longest) for item in value[:MOST]]
        case _:
            return value


def _cut(text: str, longest: int) -> str:
    told = _HALVES.sub(_REPLACED, text)
    # Every character has four bytes at most; most texts are short.
    if len(told) <= longest // 4:
        return told
    data = told.encode()
    return told if len(data) <= longest else data[:longest].decode("utf-8", "ignore")
