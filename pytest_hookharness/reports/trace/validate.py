"""
Validate a value against the JSON Schema of trace files.

No schema library is installed with the harness; only the keywords that `trace.schema` uses are known here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

Schema: TypeAlias = Mapping[str, Any]

_TYPES: Mapping[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (type(None),),
}


def first_mismatch(value: object, schema: Schema, definitions: Mapping[str, Schema], path: str = "") -> str:
    """Return the first mismatch between a value and its schema, with its path; empty if it is valid."""
    if "$ref" in schema:
        return first_mismatch(value, definitions[str(schema["$ref"]).rpartition("/")[2]], definitions, path)
    if "anyOf" in schema:
        found = [first_mismatch(value, choice, definitions, path) for choice in schema["anyOf"]]
        return "" if "" in found else found[0]
    if "enum" in schema:
        known = schema["enum"]
        return "" if value in known and not isinstance(value, bool) else f"{_at(path)} is none of {known}"
    return _own(value, schema, path) or _below(value, schema, definitions, path)


def _own(value: object, schema: Schema, path: str) -> str:
    kind = schema.get("type")
    if kind is None:
        return ""
    if not isinstance(value, _TYPES[kind]) or (isinstance(value, bool) and kind != "boolean"):
        return f"{_at(path)} is not of type {kind}"
    if "minimum" in schema and value < schema["minimum"]:
        return f"{_at(path)} is below {schema['minimum']}"
    return ""


def _below(value: object, schema: Schema, definitions: Mapping[str, Schema], path: str) -> str:
    if isinstance(value, dict):
        missing: Sequence[str] = [name for name in schema.get("required", ()) if name not in value]
        if missing:
            return f"{_at(path)} has no {missing[0]!r}"
        inner = ((name, schema.get("properties", {}).get(name), item) for name, item in value.items())
    elif isinstance(value, list):
        inner = ((str(place), schema.get("items"), item) for place, item in enumerate(value))
    else:
        return ""
    for name, below, item in inner:
        found = "" if below is None else first_mismatch(item, below, definitions, f"{path}/{name}")
        if found:
            return found
    return ""


def _at(path: str) -> str:
    return path or "the record"
