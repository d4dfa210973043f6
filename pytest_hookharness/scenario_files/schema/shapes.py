"""
Shapes: the words in which the key tables say what may be written.

A shape says three things at once: what is accepted (``conversion``), what it
becomes (its ``read``, ``build`` or ``make``), and its JSON Schema (``export``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

Values: TypeAlias = Mapping[str, Any]


def same(value: Any) -> Any:
    """
    The value as it is.
    """
    return value


def silent(_: Any) -> Iterator[tuple[Any, str]]:
    """
    No objection.
    """
    return iter(())


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """
    A text.

    Attributes:
        noun: What it is, with its article.
        pattern: A regular expression, of the dialect that Python and JSON Schema share, for all of it.
        format: A format name of JSON Schema.
        example: A good one.
        read: What it becomes; a ``ValueError`` says what is wrong with it.
    """

    noun: str = "a text"
    pattern: str = ""
    format: str = ""
    example: str = "text"
    read: Callable[[str], object] = same


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceShape:
    """
    One of some words.
    """

    noun: str
    words: tuple[str, ...]
    read: Callable[[str], object] = same


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole:
    """
    A whole number.

    Attributes:
        noun: What it is, with its article.
        minimum: The smallest.
        maximum: The largest.
        octal: Digits without a prefix are permission bits, as ``chmod`` reads them.
        read: What it becomes.
    """

    noun: str = "a whole number"
    minimum: int | None = 0
    maximum: int | None = None
    octal: bool = False
    read: Callable[[int], object] = same


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """
    A number, whole or not, not below ``minimum``.
    """

    noun: str = "a number"
    minimum: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FlagShape:
    """
    True or false; ``only`` leaves one of them.
    """

    only: bool | None = None
    read: Callable[[bool], object] = same


@dataclass(frozen=True, slots=True, kw_only=True)
class Nothing:
    """
    An empty value, which becomes ``value``.
    """

    read: Callable[[None], object] = same


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """
    A folder that exists below the scenario's own.
    """

    noun: str = "a folder"


@dataclass(frozen=True, slots=True, kw_only=True)
class Anything:
    """
    Any JSON value, passed on as it is.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Many:
    """
    A list.

    Attributes:
        item: The shape of each item.
        noun: What it is, with its article.
        at_least: How many items there must be.
        unique: No two items may be alike.
        check: Objections to the items together: index and words. An item that was refused is ``None``.
        gather: What the items become.
    """

    item: Shape
    noun: str = "a list"
    at_least: int = 0
    unique: bool = False
    check: Callable[[Sequence[Any]], Iterator[tuple[int, str]]] = silent
    gather: Callable[[Sequence[Any]], object] = tuple


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """
    A mapping whose keys are names of the author's.

    Attributes:
        key: The shape of a name.
        value: The shape of a value.
        noun: What it is, with its article.
        single: It has exactly one key.
        read: What it becomes.
    """

    key: Text
    value: Shape
    noun: str = "a mapping"
    single: bool = False
    read: Callable[[dict[str, Any]], object] = same


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """
    One key of a record.

    Attributes:
        name: As it is written.
        shape: The shape of its value.
        doc: What it is for, in one sentence.
        field: The name of the model's field, if it is another.
        required: It must be there.
        merges: A variant adds to the base's value instead of replacing it.
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
        noun: What it is, with its article.
        keys: The keys.
        build: Makes the value, from the fields as keywords.
        check: Objections to the values together: key and words.
        known_by: Among several shapes this one is meant only if one of these keys is there.
        labelled: ``build`` gets the key path as ``label``.
        at_least: How many keys there must be.
        besides: What JSON Schema can say of ``check``.
    """

    noun: str
    keys: tuple[Key, ...]
    build: Callable[..., object] = dict
    check: Callable[[Values], Iterator[tuple[str, str]]] = silent
    known_by: frozenset[str] = frozenset()
    labelled: bool = False
    at_least: int = 0
    besides: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tag:
    """
    One kind of act in a list of acts.

    Attributes:
        name: The key that says which act it is.
        shape: The shape of its value.
        doc: What it is for, in one sentence.
        role: What the list makes of it.
        make: Makes the act, from fields as keywords; ``None`` if the value is it already.
        field: The field that the value is; empty if it is a mapping of fields.
        modifiers: Keys that may stand beside it.
    """

    name: str
    shape: Shape
    doc: str
    role: Literal["say", "call", "stop", "event", "then"]
    make: Callable[..., object] | None = None
    field: str = ""
    modifiers: tuple[Key, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Tagged:
    """
    A mapping with exactly one key that says what it is, and that key's modifiers.

    Attributes:
        noun: What it is, with its article.
        tags: The kinds.
        barred: Further names, with the reason why they cannot stand here.
    """

    noun: str
    tags: tuple[Tag, ...]
    barred: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedValue:
    """
    One tagged mapping that was read.

    Attributes:
        tag: Which kind it is.
        value: What its value became.
        modifiers: What its modifiers became.
        path: Its key path.
    """

    tag: Tag
    value: Any
    modifiers: Values
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Either:
    """
    One of several shapes, told apart by what kind of value is there.
    """

    shapes: tuple[Shape, ...]


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
