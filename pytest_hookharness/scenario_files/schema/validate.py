"""
Compare elements with shapes, and turn them into values.

Reading continues after a problem: an invalid element becomes ``FAILED``, and so does every element around it.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, assert_never

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.scenario_files.schema.choose_shape import describe, kinds, takes
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
    PlacedValue,
    RecordShape,
    Shape,
    Tag,
    Tagged,
    Text,
    Whole,
)
from pytest_hookharness.scenario_files.schema.texts import REPOSITORY, find_folder, matches
from pytest_hookharness.scenario_files.yaml.elements import (
    Element,
    ListNode,
    Problems,
    RefusedNode,
    ScalarNode,
    TableEntry,
    TableNode,
    join,
    plain_value,
    resolve,
    seen,
    shown,
)


class ShapeMismatch(enum.Enum):
    """Stands for the value of an invalid element."""

    FAILED = "failed"


FAILED: Final = ShapeMismatch.FAILED
DIGITS = frozenset("0123456789")


@dataclass(frozen=True, slots=True)
class Conversion:
    """The conversion of one scenario; folders are relative to ``folder``, and below it if ``confined``."""

    problems: Problems
    folder: Path
    confined: bool = True

    def read(self, shape: Shape, element: Element, path: str) -> Any:
        """Return the value of an element, or record the problem and return ``FAILED``."""
        if isinstance(element, RefusedNode):
            return FAILED
        if not takes(shape, element):
            return self._misfit(shape, element, path)
        match shape, element:
            case Either(shapes=shapes), _:
                return self.read(next(one for one in shapes if takes(one, element)), element, path)
            case Anything(), _:
                return plain_value(element)
            case _, ScalarNode():
                return self._scalar(shape, element, path)
            case Many(), ListNode():
                return self._list(shape, element, path)
            case Named(), TableNode():
                return self._names(shape, element, path)
            case RecordShape(), TableNode():
                return self._record(shape, element, path)
            case Tagged(), TableNode():
                return self._tagged(shape, element, path)
            case _:
                return self._misfit(shape, element, path)

    def _misfit(self, shape: Shape, element: Element, path: str) -> ShapeMismatch:
        word = element.value if isinstance(element, ScalarNode) and isinstance(element.value, str) else None
        words = tuple(tag.name for tag in shape.tags) if isinstance(shape, Tagged) else ()
        message = f"expected {' or '.join(kinds(shape))}, got {seen(element)}"
        if word is not None and word in words:
            message, word = f"{seen(element)} needs a value; write it as a key, {word}: ...", None
        if (
            isinstance(element, ScalarNode)
            and element.text
            and word is None
            and takes(shape, ScalarNode(value=""))
        ):
            message += f" (for a text write {shown(element.text)} in quotes)"
        if word is not None and takes(shape, ScalarNode(value=unquoted(word))):
            message += " (write it without quotes)"
        said = {*kinds(shape), "true", "false"}
        allowed = [one for one in words or describe(shape) if one not in said]
        self.problems.add(element, path, message, allowed=allowed, near=word)
        return FAILED

    def _refuse(self, element: Element, path: str, message: str, shape: Shape | None = None) -> ShapeMismatch:
        allowed = describe(shape) if shape is not None else ()
        near = element.value if isinstance(element, ScalarNode) and isinstance(element.value, str) else None
        self.problems.add(element, path, message, allowed=allowed, near=near)
        return FAILED

    def _scalar(self, shape: Shape, element: ScalarNode, path: str) -> Any:
        value = element.value
        match shape:
            case Text():
                return self._text(shape, str(value), element, path)
            case ChoiceShape(words=words, noun=noun) if value not in words:
                instead = dict(shape.meant).get(str(value), "")
                return self._refuse(element, path, f"{seen(element)} is not {noun}{instead}", shape)
            case FlagShape(only=bool() as only) if value is not only:
                return self._refuse(element, path, f"expected {str(only).lower()}, got {seen(element)}")
            case ChoiceShape() | FlagShape() | Nothing():
                return shape.read(value)  # type: ignore[arg-type]
            case Whole():
                return self._whole(shape, element, path)
            case Number():
                return self._number(shape, element, path)
            case Folder():
                return self._folder(shape, element, path)
            case Anything() | Many() | Named() | RecordShape() | Tagged() | Either():
                return self._misfit(shape, element, path)
            case _:
                assert_never(shape)

    def _text(self, shape: Text, text: str, element: Element | TableEntry, path: str) -> Any:
        try:
            value = shape.read(text)
            if not shape.pattern or matches(shape.pattern, text):
                return value
            message = f"{shown(text)} is not {shape.noun}"
        except ValueError as error:
            message = f"{shown(text)} {error}"
        allowed = (f"{shape.noun} such as {shape.example}",)
        self.problems.add(element, path, message, allowed=allowed)
        return FAILED

    def _number(self, shape: Number, element: ScalarNode, path: str) -> Any:
        value = element.value
        if isinstance(value, (int, float)) and shape.minimum <= value <= shape.maximum:
            return float(value)
        return self._refuse(element, path, f"{seen(element)} is out of range", shape)

    def _whole(self, shape: Whole, element: ScalarNode, path: str) -> Any:
        number = int(element.value or 0)
        if shape.octal and element.text and DIGITS.issuperset(element.text):
            try:
                number = int(element.text, 8)
            except ValueError:
                return self._refuse(element, path, f"{seen(element)} is not octal", shape)
        least = number if shape.minimum is None else shape.minimum
        most = number if shape.maximum is None else shape.maximum
        if least <= number <= most:
            return shape.read(number)
        return self._refuse(element, path, f"{seen(element)} is out of range", shape)

    def _folder(self, shape: Folder, element: ScalarNode, path: str) -> Any:
        text = str(element.value)
        confined = self.confined and not element.trusted
        found = find_folder(text, self.folder, confined=confined, or_file=shape.or_file)
        if isinstance(found, Path):
            return found
        message = f"{shown(text)} {found.why}"
        # A folder's name, or the word for the repository, may be what was meant.
        words = found.there if shape.or_file or "/" in text else (REPOSITORY, *found.there)
        allowed = words if found.missing else describe(shape)
        near = found.missing or None
        self.problems.add(element, path, message, allowed=allowed, near=near)
        return FAILED

    def _list(self, shape: Many, element: ListNode, path: str) -> Any:
        items = [self.read(shape.item, item, join(path, n)) for n, item in enumerate(element.items)]
        valid = FAILED not in items
        if len(items) < shape.at_least:
            self._refuse(element, path, f"expected at least {shape.at_least} item, got {seen(element)}")
            valid = False
        if shape.unique:
            valid = self._check_unique(items, element, path) and valid
        for index, message in shape.check([None if item is FAILED else item for item in items]):
            self.problems.add(element.items[index], join(path, index), message)
            valid = False
        return shape.gather(items) if valid else FAILED

    def _check_unique(self, items: Sequence[Any], element: ListNode, path: str) -> bool:
        repeated = [n for n, item in enumerate(items) if item is not FAILED and item in items[:n]]
        for index in repeated:
            place = element.items[index]
            self.problems.add(place, join(path, index), f"{seen(place)} is written twice")
        return not repeated

    def _names(self, shape: Named, element: TableNode, path: str) -> Any:
        values: dict[str, Any] = {}
        valid = True
        if shape.single and len(element.entries) != 1:
            message = f"expected {shape.noun}, got {len(element.entries)} keys"
            self._refuse(element, path, message)
            valid = False
        for entry in element.entries:
            inner = join(path, entry.key)
            name = self._text(shape.key, entry.key, entry, inner)
            value = self.read(shape.value, entry.value, inner)
            if name is not FAILED and name in values:
                self.problems.add(entry, inner, f"{shown(entry.key)} has the same meaning as an earlier key")
                valid = False
            if name is FAILED or value is FAILED:
                valid = False
            else:
                values[name] = value
        return shape.read(values) if valid else FAILED

    def _record(self, shape: RecordShape, element: TableNode, path: str) -> Any:
        values, valid = self._keys(shape.keys, element, path)
        if valid and len(values) < shape.at_least:
            message = f"expected at least {shape.at_least} key, got {seen(element)}"
            self._refuse(element, path, message, shape)
            valid = False
        if not valid:
            return FAILED
        places = {entry.key: entry.value for entry in element.entries}
        for name, message in shape.check(values):
            where = join(path, name) if name in places else path
            self.problems.add(places.get(name, element), where, message)
            valid = False
        if not valid:
            return FAILED
        named = _by_field(shape.keys, values)
        return shape.build(**named, label=path) if shape.labelled else shape.build(**named)

    def _keys(self, keys: Sequence[Key], element: TableNode, path: str) -> tuple[dict[str, Any], bool]:
        known = {key.name: key for key in keys}
        values: dict[str, Any] = {}
        valid = True
        for entry in element.entries:
            if entry.key in known:
                value = self.read(known[entry.key].shape, entry.value, join(path, entry.key))
                valid = valid and value is not FAILED
                values[entry.key] = value
            else:
                self._unknown(entry, path, tuple(known), keys)
                valid = False
        for key in keys:
            if key.required and key.name not in values:
                self.problems.add(
                    element, path, f"the key {shown(key.name)} is missing", allowed=describe(key.shape)
                )
                valid = False
        return values, valid

    def _unknown(self, entry: TableEntry, path: str, known: Sequence[str], keys: Sequence[Key] = ()) -> None:
        # Most files have no unknown key.
        from pytest_hookharness.scenario_files.schema.unknown_keys import suggest_key  # noqa: PLC0415

        found = suggest_key(entry.key, known, keys)
        self.problems.add(
            entry,
            join(path, entry.key),
            f"unknown key {shown(entry.key)}{found.where}",
            allowed=known,
            near=entry.key if found.near else None,
            meant=found.meant,
        )

    def _tagged(self, shape: Tagged, element: TableNode, path: str) -> Any:
        tags = {tag.name: tag for tag in shape.tags}
        found = [entry for entry in element.entries if entry.key in tags]
        if not found:
            return self._untagged(shape, element, path)
        if len(found) > 1:
            words = " and ".join(entry.key for entry in found[:3])
            where = join(path, found[1].key)
            message = f"expected one act per item, got {words}"
            self.problems.add(found[1], where, message)
            return FAILED
        return self._placed(tags[found[0].key], found[0], element, path)

    def _untagged(self, shape: Tagged, element: TableNode, path: str) -> ShapeMismatch:
        allowed = tuple(tag.name for tag in shape.tags)
        for entry in element.entries:
            if entry.key in shape.barred:
                self.problems.add(entry, join(path, entry.key), shape.barred[entry.key], allowed=allowed)
                return FAILED
        modifiers = {key.name for tag in shape.tags for key in tag.modifiers}
        unknown = [entry for entry in element.entries if entry.key not in modifiers]
        if unknown:
            self._unknown(unknown[0], path, allowed)
        else:
            message = f"expected {shape.noun}, got {seen(element)} without one"
            self.problems.add(element, path, message, allowed=allowed)
        return FAILED

    def _placed(self, tag: Tag, act: TableEntry, element: TableNode, path: str) -> Any:
        value = self.read(tag.shape, act.value, join(path, act.key))
        beside = tuple(entry for entry in element.entries if entry is not act)
        rest = TableNode(entries=beside, line=element.line, column=element.column)
        values, valid = self._keys(tag.modifiers, rest, path)
        if value is FAILED or not valid:
            return FAILED
        return PlacedValue(tag=tag, value=value, modifiers=_by_field(tag.modifiers, values), path=path)


def _by_field(keys: Sequence[Key], values: Mapping[str, Any]) -> dict[str, Any]:
    return {key.field or key.name: values[key.name] for key in keys if key.name in values}


def unquoted(word: str) -> bool | int | float | str | None:
    """Return the value that a text would have without its quotes."""
    try:
        return resolve(word)
    except ValueError:
        return word
