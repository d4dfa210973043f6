"""Choose the shape that fits an element, and describe shapes in words."""

from __future__ import annotations

from pytest_hookharness.scenario_files.schema.shapes import (
    Anything,
    ChoiceShape,
    Either,
    FlagShape,
    Folder,
    Many,
    Named,
    Nothing,
    Number,
    RecordShape,
    Shape,
    Tagged,
    Text,
    Whole,
)
from pytest_hookharness.scenario_files.yaml.elements import Element, ListNode, ScalarNode, TableNode


def takes(shape: Shape, element: Element) -> bool:
    """Return whether an element is of a kind that a shape accepts; its value may still be invalid."""
    match shape, element:
        case Either(shapes=shapes), _:
            return any(takes(inner, element) for inner in shapes)
        case Whole() | Number(), ScalarNode(value=bool()):
            return False
        case Whole(), ScalarNode(value=float() as value):
            return value.is_integer()
        case RecordShape(known_by=words), TableNode(entries=entries):
            return not words or any(entry.key in words for entry in entries)
        case (
            (Anything(), _)
            | (Text() | ChoiceShape() | Folder(), ScalarNode(value=str()))
            | (FlagShape(), ScalarNode(value=bool()))
            | (Whole(), ScalarNode(value=int()))
            | (Number(), ScalarNode(value=int() | float()))
            | (Nothing(), ScalarNode(value=None))
            | (Many(), ListNode())
            | (Named() | Tagged(), TableNode())
        ):
            return True
        case _:
            return False


def describe(shape: Shape) -> tuple[str, ...]:
    """Return the allowed values of a shape, in words."""
    match shape:
        case Either(shapes=shapes):
            return tuple(dict.fromkeys(word for inner in shapes for word in describe(inner)))
        case ChoiceShape(words=words):
            return words
        case Whole(noun=noun, octal=True):
            return (f"{noun} such as 0755",)
        case Whole(noun=noun, minimum=int() as least, maximum=int() as most):
            return (f"{noun} from {least} to {most}",)
        case Whole(noun=noun, minimum=int() as least) | Number(noun=noun, minimum=least):
            return (f"{noun} from {least:g}",)
        case FlagShape(only=None):
            return ("true", "false")
        case FlagShape(only=only):
            return (str(only).lower(),)
        case Nothing():
            return ("nothing",)
        case Anything():
            return ("anything",)
        case RecordShape(noun=noun, keys=keys):
            return (f"{noun} as a mapping of {', '.join(key.name for key in keys)}",)
        case Tagged(noun=noun, tags=tags):
            return (f"{noun} as a mapping with one of {', '.join(tag.name for tag in tags)}",)
        case _:
            return (shape.noun,)


def keys_below(shape: Shape) -> frozenset[str]:
    """Return the keys of the mappings with known keys that a shape accepts."""
    match shape:
        case RecordShape(keys=keys):
            return frozenset(key.name for key in keys)
        case Either(shapes=shapes):
            return frozenset[str]().union(*map(keys_below, shapes))
        case _:
            return frozenset()


def tags_below(shape: Shape) -> frozenset[str]:
    """Return the identifying keys of the items of a list that a shape accepts."""
    match shape:
        case Many(item=Tagged(tags=tags)):
            return frozenset(tag.name for tag in tags)
        case Either(shapes=shapes):
            return frozenset[str]().union(*map(tags_below, shapes))
        case _:
            return frozenset()


def kinds(shape: Shape) -> tuple[str, ...]:
    """Return the kinds of values that a shape accepts, without lists of words or keys."""
    match shape:
        case Either(shapes=shapes):
            return tuple(dict.fromkeys(kind for inner in shapes for kind in kinds(inner)))
        case ChoiceShape(noun=noun) | RecordShape(noun=noun) | Tagged(noun=noun):
            return (noun,)
        case FlagShape(only=None):
            return ("true or false",)
        case _:
            return describe(shape)
