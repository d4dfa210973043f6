"""
Shapes: descriptions of the values that scenario files can contain.

A shape states three things at once: which values are accepted (``validate``), what they become (``read``,
``build`` or ``make``), and their JSON Schema (``json_schema``). The noun of a shape says what a value is,
with its article.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, Literal, TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass

Values: TypeAlias = Mapping[str, Any]


def unchanged(value: Any) -> Any:
    """Return the value unchanged."""
    return value


def no_problems(_: Any) -> Iterator[tuple[Any, str]]:
    """Return no problems."""
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """
    A text.

    Attributes:
        pattern: A regular expression for the whole text, in the common dialect of Python and JSON Schema.
        format: A format name of JSON Schema.
        read: Returns the value of a text; raises ``ValueError`` with the problem.
    """

    noun: str = "a text"
    pattern: str = ""
    format: str = ""
    example: str = "text"
    read: Callable[[str], object] = unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceShape:
    """
    One word of a fixed list.

    Attributes:
        meant: Words that are written by mistake, each with the end of the error message.
    """

    noun: str
    words: tuple[str, ...]
    read: Callable[[str], object] = unchanged
    meant: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """A whole number; digits without a prefix can be octal permission bits, as for ``chmod``."""

    noun: str = "a whole number"
    minimum: int | None = 0
    maximum: int | None = None
    octal: bool = False
    read: Callable[[int], object] = unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number, whole or not, of at least ``minimum`` and at most ``maximum``."""

    noun: str = "a number"
    minimum: float = 0
    maximum: float = float("inf")


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagShape:
    """True or false, or just the one given by ``only``."""

    only: bool | None = None
    read: Callable[[bool], object] = unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """An empty value."""

    read: Callable[[None], object] = unchanged


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A folder, or perhaps a file, that exists below the scenario file's folder."""

    noun: str = "a folder"
    or_file: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """Any JSON value, unchanged."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """
    A list.

    Attributes:
        check: Yields problems of the items together: index and message. An invalid item is ``None``.
    """

    item: Shape
    noun: str = "a list"
    at_least: int = 0
    unique: bool = False
    check: Callable[[Sequence[Any]], Iterator[tuple[int, str]]] = no_problems
    gather: Callable[[Sequence[Any]], object] = tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A mapping whose keys are names that the author chooses; exactly one key if ``single``."""

    key: Text
    value: Shape
    noun: str = "a mapping"
    single: bool = False
    read: Callable[[dict[str, Any]], object] = unchanged


@dataclass(frozen=True, slots=True)
class Key:
    """
    One key of a record.

    Attributes:
        doc: Description, in one sentence.
        field: Name of the model's field; empty if it is the same.
        merges: Whether a variant's value is added to the base's instead of replacing it.
    """

    name: str
    shape: Shape
    doc: str
    field: str = ""
    required: bool = False
    merges: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordShape:
    """
    A mapping with known keys.

    Attributes:
        build: Returns the value, given the fields as keyword arguments.
        check: Yields problems of the values together: key and message.
        known_by: Among several shapes, this one is chosen only if one of these keys is present.
        labelled: Whether ``build`` receives the key path as ``label``.
        besides: The part of ``check`` that JSON Schema can express.
    """

    noun: str
    keys: tuple[Key, ...]
    build: Callable[..., object] = dict
    check: Callable[[Values], Iterator[tuple[str, str]]] = no_problems
    known_by: frozenset[str] = frozenset()
    labelled: bool = False
    at_least: int = 0
    besides: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tag:
    """
    One kind of act in a list of acts.

    Attributes:
        doc: Description, in one sentence.
        make: Returns the act, given fields as keyword arguments; ``None`` if the value is the act.
        field: The field for the value; empty if the value is a mapping of fields.
        modifiers: Keys that are allowed beside it.
    """

    name: str
    shape: Shape
    doc: str
    role: Literal["say", "call", "stop", "event", "recording", "then"]
    make: Callable[..., object] | None = None
    field: str = ""
    modifiers: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    """
    A mapping with exactly one key that identifies it, and that key's modifiers.

    Some identifying keys are barred here, each with the reason.
    """

    noun: str
    tags: tuple[Tag, ...]
    barred: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedValue:
    """One tagged mapping that was read, with its value and those of its modifiers."""

    tag: Tag
    value: Any
    modifiers: Values
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """One of several shapes, chosen by the kind of the value."""

    shapes: tuple[Shape, ...]


def either(*shapes: Shape) -> Either:
    """Return the choice of one of several shapes."""
    return Either(shapes=shapes)


class Removed:
    """The value of a key that a variant removes from the base."""


REMOVED = Removed()


Shape: TypeAlias = (
    Text
    | ChoiceShape
    | Whole
    | Number
    | FlagShape
    | Nothing
    | Folder
    | Anything
    | Many
    | Named
    | RecordShape
    | Tagged
    | Either
)


def removable(key: Key) -> Key:
    """Return the key of a variant for a key of the base: its value may be empty, which removes the base's."""
    shape = key.shape
    if key.merges and isinstance(shape, Named):
        shape = replace(shape, value=_or_removed(shape.value))
    elif key.merges and isinstance(shape, RecordShape):
        shape = replace(shape, keys=tuple(map(removable, shape.keys)))
    return replace(key, shape=_or_removed(shape))


def _or_removed(shape: Shape) -> Shape:
    shapes = shape.shapes if isinstance(shape, Either) else (shape,)
    return Either(shapes=(*shapes, Nothing(read=lambda _: REMOVED)))
