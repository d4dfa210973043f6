"""
Keys derived from the dataclasses of the model, and the shapes that many keys share.

A field's type gives the shape of its key, its default says whether the key is required, and the first
sentence of its entry under ``Attributes:`` describes it. The tables beside this file state only the rest.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, fields, replace
from typing import Any, TypeAlias

from pytest_hookharness.model import moves
from pytest_hookharness.scenario_files.schema import texts
from pytest_hookharness.scenario_files.schema.shapes import (
    Anything,
    ChoiceShape,
    FlagShape,
    Key,
    Named,
    Number,
    RecordShape,
    Shape,
    Text,
    Values,
    Whole,
    either,
)

WORDS = Text(noun="a text that is not empty", pattern=texts.WORDS)
INSIDE = Text(
    noun="a path inside the workspace", pattern=texts.INSIDE, example="src/app.py", read=texts.read_inside
)
TOOL_FILE = Text(
    noun="a path inside the workspace",
    pattern=texts.RELATIVE,
    example="src/app.py",
    read=texts.read_path_of_tool,
)
REGEX = Text(noun="a regular expression", format="regex", example="tests? failed", read=texts.read_regex)
EVENT = Text(noun="an event name", pattern=texts.EVENT, example="PreToolUse")
HOST = Text(noun="a host", pattern=texts.HOST, example="claude-code")
_DURATION_TEXT = Text(
    noun="a duration in ms, s, m, h or d", pattern=texts.DURATION, example="301s", read=texts.read_duration
)
DURATION = either(_DURATION_TEXT, Number(noun="a number of seconds", maximum=texts.LONGEST))
# A duration that ends a run, so it is long enough for something to run.
TIME_LIMIT = either(
    replace(_DURATION_TEXT, read=texts.read_limit),
    Number(noun="a number of seconds", minimum=texts.SHORTEST_LIMIT, maximum=texts.LONGEST),
)
TIMES = Whole(noun="a number of times", minimum=1)
JSON_MAPPING = Named(key=Text(), value=Anything())
TEXTS = Named(noun="texts by path", key=INSIDE, value=Text())

# The model's floats are seconds; a type that is not listed here needs a shape in its table.
_BY_TYPE: Mapping[str, Shape] = {
    "bool": FlagShape(),
    "str": Text(),
    "int": Whole(),
    "int | None": Whole(),
    "float": DURATION,
    "float | None": DURATION,
    "Json": Anything(),
    "Payload": JSON_MAPPING,
    "Mapping[str, Json]": JSON_MAPPING,
}
_ATTRIBUTE = re.compile(r"^( +)(\w+): (.+(?:\n\1 +\S.*)*)", re.MULTILINE)
_NOTHING: Mapping[str, Any] = {}
Shapes: TypeAlias = Mapping[str, Shape | str]


def keys_of(
    model: type,
    shapes: Shapes = _NOTHING,
    *,
    names: Mapping[str, str] = _NOTHING,
    without: Collection[str] = (),
    only: Collection[str] = (),
    required: Collection[str] = (),
    merges: Collection[str] = (),
) -> tuple[Key, ...]:
    """
    Return the keys for the fields of a dataclass, in their order.

    Args:
        shapes: Shapes by field, where the type is not enough; a text is the noun of a ``Literal`` type.
        names: Keys by field, where they differ.
        without: Fields that are no keys.
        only: The fields that are keys; all, if empty.
        required: Fields that are required although they have a default.
        merges: Fields to whose value a variant adds.

    Raises:
        TypeError: A field has no known shape.
    """
    described = {name: text for _, name, text in _ATTRIBUTE.findall(model.__doc__ or "")}
    return tuple(
        Key(
            names.get(field.name, field.name),
            field=field.name,
            shape=_shape_of(str(field.type), shapes.get(field.name), f"{model.__name__}.{field.name}"),
            doc=_first_sentence(described.get(field.name, "")),
            required=field.name in required
            or (field.default is MISSING and field.default_factory is MISSING),
            merges=field.name in merges,
        )
        for field in fields(model)
        if field.name not in without and (not only or field.name in only)
    )


def _shape_of(annotation: str, given: Shape | str | None, where: str) -> Shape:
    if isinstance(given, str):
        words = ast.literal_eval(annotation.removeprefix("Literal"))
        return ChoiceShape(noun=given, words=tuple(word for word in words if word))
    shape = _BY_TYPE.get(annotation) if given is None else given
    if shape is None:
        raise TypeError(f"{where} needs a shape, because its type is {annotation}")
    return shape


def _first_sentence(text: str) -> str:
    sentence = re.split(r"(?<=\.)\s", " ".join(text.split()), maxsplit=1)[0]
    return sentence.replace("``", "`")


def record_of(
    model: type,
    noun: str,
    shapes: Shapes = _NOTHING,
    *,
    names: Mapping[str, str] = _NOTHING,
    without: Collection[str] = (),
    only: Collection[str] = (),
    required: Collection[str] = (),
    **more: Any,
) -> RecordShape:
    """
    Return the shape of a mapping that becomes an instance of a dataclass.

    ``noun`` says what it is, with its article; ``more`` are further attributes of ``RecordShape``; the other
    arguments are those of ``keys_of``.
    """
    keys = keys_of(model, shapes, names=names, without=without, only=only, required=required)
    values: dict[str, Any] = {"noun": noun, "keys": keys, "build": model, **more}
    return RecordShape(**values)


HARMS = ("delete", "empty", "truncate", "garbage", "crlf", "bom", "grow", "chmod", "replace")
HARMS_WITH_TEXT = ("grow", "chmod", "replace")


def check_harm(values: Values) -> Iterator[tuple[str, str]]:
    """Yield a problem if a text is missing or not allowed for this kind of damage."""
    how = values.get("how", "delete")
    if how in HARMS_WITH_TEXT and "text" not in values:
        yield "", f"how: {how} needs a text"
    if how not in HARMS_WITH_TEXT and "text" in values:
        yield "text", f"how: {how} takes no text; only {', '.join(HARMS_WITH_TEXT)} do"
    if how == "grow" and not re.fullmatch(r"[0-9]{1,8}", str(values.get("text", "0"))):
        yield "text", 'the text of grow is a size in bytes such as "65536"'
    if how == "chmod" and "text" in values and not texts.matches(texts.MODE, values["text"]):
        yield "text", 'the text of chmod is an octal mode such as "0644"'


CORRUPT = record_of(
    moves.Corrupt,
    "damage to a file",
    {"file": INSIDE, "how": ChoiceShape(noun="a kind of damage", words=HARMS)},
    check=check_harm,
)
