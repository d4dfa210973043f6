"""
The JSON Schema of scenario files, for editors and other validators.

It is derived from the tables of keys. Folders, links, duplicate keys and the order of acts are checked by the
loader alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import Any, assert_never

from pytest_hookharness.scenario_files.keys.scenario import COMMON, SCENARIO, VARIANT
from pytest_hookharness.scenario_files.schema.shapes import (
    Anything,
    ChoiceShape,
    Either,
    FlagShape,
    Folder,
    Key,
    Many,
    Named,
    Nothing,
    Number,
    RecordShape,
    Shape,
    Tag,
    Tagged,
    Text,
    Whole,
)

SCHEMA_ID = "urn:pytest-hookharness:scenario"


def schema() -> dict[str, Any]:
    """Return the JSON Schema (draft 2020-12) of a scenario file."""
    common = {key.name: {"$ref": f"#/$defs/{key.name}"} for key in COMMON}
    own = {key.name: described(key) for key in SCENARIO.keys if key.name not in common}
    of_variant = {key.name: removable_schema(key, f"#/$defs/{key.name}") for key in COMMON}
    variant = {**record(VARIANT), "properties": of_variant}
    own["variants"]["additionalProperties"] = {"$ref": "#/$defs/variant"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": SCHEMA_ID,
        "title": "Scenario of pytest-hookharness",
        **record(SCENARIO),
        "properties": {"name": own["name"], **common, "variants": own["variants"]},
        "$defs": {**{key.name: described(key) for key in COMMON}, "variant": variant},
    }


def removable_schema(key: Key, base: str) -> dict[str, Any]:
    """Return the schema of a variant's key, given a reference to the base's, which null removes."""
    own: dict[str, Any] = {"$ref": base}
    if key.merges and isinstance(key.shape, Named):
        value = {"anyOf": [{"$ref": f"{base}/additionalProperties"}, export(Nothing())]}
        own = {**container(key.shape), "additionalProperties": value}
    elif key.merges and isinstance(key.shape, RecordShape):
        inner = key.shape.keys
        keys = {one.name: removable_schema(one, f"{base}/properties/{one.name}") for one in inner}
        own = {**container(key.shape), "properties": keys}
    return {"description": key.doc, "anyOf": [own, export(Nothing())]}


def described(key: Key) -> dict[str, Any]:
    """Return the schema of a key's value, with its description."""
    return {"description": key.doc, **export(key.shape)}


def export(shape: Shape) -> dict[str, Any]:
    """Return the schema of one shape."""
    match shape:
        case Text(pattern=pattern, format=form):
            return {
                "type": "string",
                **({"pattern": whole(pattern)} if pattern else {}),
                **({"format": form} if form else {}),
            }
        case Folder():
            return {"type": "string", "minLength": 1}
        case ChoiceShape(words=words):
            return {"enum": list(words)}
        case Whole(maximum=int() as most, octal=True):
            # Validators read the digits of a mode as decimal, the loader as octal.
            return {"type": "integer", "minimum": 0, "maximum": int(f"{most:o}")}
        case Whole(minimum=least, maximum=most):
            return {"type": "integer", **present(minimum=least, maximum=most)}
        case Number(minimum=least, maximum=most):
            return {"type": "number", "minimum": least, **present(maximum=most if isfinite(most) else None)}
        case FlagShape(only=None):
            return {"type": "boolean"}
        case FlagShape(only=only):
            return {"const": only}
        case Nothing():
            return {"type": "null"}
        case Anything():
            return {}
        case Either(shapes=shapes):
            return {"anyOf": [export(inner) for inner in shapes]}
        case Many() | Named() | RecordShape() | Tagged():
            return container(shape)
        case _:
            assert_never(shape)


def container(shape: Many | Named | RecordShape | Tagged) -> dict[str, Any]:
    """Return the schema of a list or a mapping."""
    match shape:
        case Many(item=item, at_least=least, unique=unique):
            limits = present(minItems=least or None, uniqueItems=unique or None)
            return {"type": "array", "items": export(item), **limits}
        case Named(key=key, value=value, single=single):
            one = {"minProperties": 1, "maxProperties": 1} if single else {}
            names = {"propertyNames": {"pattern": whole(key.pattern)}} if key.pattern else {}
            return {"type": "object", "additionalProperties": export(value), **names, **one}
        case RecordShape():
            return record(shape)
        case Tagged(tags=tags):
            return {"anyOf": [act(tag) for tag in tags]}
        case _:
            assert_never(shape)


def record(shape: RecordShape) -> dict[str, Any]:
    """Return the schema of a mapping with known keys."""
    return {
        "type": "object",
        "properties": {key.name: described(key) for key in shape.keys},
        "additionalProperties": False,
        **present(required=[key.name for key in shape.keys if key.required] or None),
        **present(minProperties=shape.at_least or None),
        **shape.besides,
    }


def act(tag: Tag) -> dict[str, Any]:
    """Return the schema of one kind of act."""
    own = Key(name=tag.name, shape=tag.shape, doc=tag.doc, required=True)
    return record(RecordShape(noun="an act", keys=(own, *tag.modifiers)))


def whole(pattern: str) -> str:
    """Return a pattern that matches the whole text, for JSON Schema."""
    return f"^({pattern})$"


def present(**limits: object) -> Mapping[str, object]:
    """Return the limits that are not ``None``."""
    return {name: limit for name, limit in limits.items() if limit is not None}
