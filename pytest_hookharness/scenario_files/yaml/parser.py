"""
Composing: from the text of a file to elements with positions.

PyYAML's parser gives events with marks; elements are made of them here, without recursion
and without its loaders, so that depth, aliases, tags and duplicate keys are ours to refuse.

Plain scalars: which of them are not texts, by the core rules of YAML 1.2.

``on``, ``no``, ``12:30`` and dates are texts here, as a reader expects; PyYAML's own
rules are those of YAML 1.1, where they are not.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import yaml

from pytest_hookharness.scenario_files.yaml.errors import Problems
from pytest_hookharness.scenario_files.yaml.nodes import (
    Element,
    ListNode,
    RefusedNode,
    ScalarNode,
    TableEntry,
    TableNode,
    join,
    shown,
)

FIRST = frozenset("+-.0123456789~nNtTfF")
WORDS: dict[str, bool | None] = {
    "": None,
    "~": None,
    **dict.fromkeys(("null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
DECIMAL = re.compile(r"[-+]?[0-9]+")
OCTAL = re.compile(r"0o[0-7]+")
HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
ENDLESS = re.compile(r"[-+]?(?:\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN")
MOST_DIGITS = 300


def resolve(text: str) -> bool | int | float | str | None:
    """
    The value of a scalar that stands without quotes.

    Raises:
        ValueError: It is a number that JSON cannot carry.
    """
    if text and text[0] not in FIRST:
        return text
    if text in WORDS:
        return WORDS[text]
    if ENDLESS.fullmatch(text):
        raise ValueError("is not a number that JSON can carry; put it in quotes for a text")
    number = _number(text)
    if number is None:
        return text
    if isinstance(number, float) and not math.isfinite(number):
        raise ValueError("is too large for a number; put it in quotes for a text")
    return number


def _number(text: str) -> int | float | None:
    for pattern, base in ((DECIMAL, 10), (OCTAL, 8), (HEXADECIMAL, 16)):
        if pattern.fullmatch(text):
            # Python itself refuses very long numbers, in words that help nobody here.
            return math.inf if len(text) > MOST_DIGITS else int(text, base)
    return float(text) if FLOAT.fullmatch(text) else None


DEEPEST = 64
MOST_VALUES = 20_000
LONGEST_KEY = 1_000
LONGEST_PATH = 2_000
UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Spot: TypeAlias = tuple[int, int]


class Unreadable(Exception):
    """
    The rest of the text cannot be read; the problem is noted.
    """


@dataclass(slots=True)
class Open:
    """
    A list or mapping whose end has not been reached.

    Attributes:
        spot: Line and column of its beginning.
        path: Its key path.
        items: The items, if it is a list.
        entries: The entries by key, if it is a mapping.
        key: The key whose value comes next, with its position.
    """

    spot: Spot
    path: str
    items: list[Element] | None = None
    entries: dict[str, TableEntry] = field(default_factory=dict)
    key: tuple[str, Spot] | None = None

    @property
    def next_path(self) -> str:
        """
        The key path of what comes next.
        """
        if self.items is not None:
            return join(self.path, len(self.items))
        return join(self.path, self.key[0]) if self.key is not None else self.path

    @property
    def awaits_key(self) -> bool:
        """
        Whether a key comes next.
        """
        return self.items is None and self.key is None

    def close(self) -> Element:
        """
        The finished element.
        """
        line, column = self.spot
        if self.items is not None:
            return ListNode(items=tuple(self.items), line=line, column=column)
        return TableNode(entries=tuple(self.entries.values()), line=line, column=column)


@dataclass(slots=True)
class Composer:
    """
    Makes elements of events, one at a time.

    Attributes:
        problems: Where problems go.
        stack: The lists and mappings that are open, the innermost last.
        root: The finished document.
        values: How many values there were.
        documents: How many documents there were.
    """

    problems: Problems
    stack: list[Open] = field(default_factory=list)
    root: Element | None = None
    values: int = 0
    documents: int = 0

    def take(self, event: yaml.Event) -> None:
        """
        Go one event on.

        Raises:
            Unreadable: There is no use in going on.
        """
        mark = event.start_mark
        spot = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self.stop(spot, "a second document begins here; one scenario a file")
            case yaml.AliasEvent():
                self.problem(spot, "aliases (*) are not used; write the value out", f"*{event.anchor}")
                self.add(RefusedNode(line=spot[0], column=spot[1]), spot)
            case yaml.ScalarEvent():
                self.check_node(event, spot)
                self.add_scalar(event, spot)
            case yaml.CollectionStartEvent():
                self.check_node(event, spot)
                self.open(event, spot)
            case yaml.CollectionEndEvent():
                closed = self.stack.pop()
                self.add(closed.close(), closed.spot)
            case _:
                pass

    def check_node(self, event: yaml.NodeEvent, spot: Spot) -> None:
        """
        Refuse anchors, tags and too many values.
        """
        self.values += 1
        if self.values > MOST_VALUES:
            self.stop(spot, f"the file has more than {MOST_VALUES} values")
        if event.anchor is not None:
            self.problem(spot, "anchors (&) are not used; write the value out", f"&{event.anchor}")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.problem(spot, "tags (!) are not used; quotes make a text", tag)

    def open(self, event: yaml.CollectionStartEvent, spot: Spot) -> None:
        """
        Begin a list or a mapping.
        """
        if len(self.stack) >= DEEPEST:
            self.stop(spot, f"nested more than {DEEPEST} levels deep")
        path = self.path
        if len(path) > LONGEST_PATH:
            self.stop(spot, "the keys down to here are too long")
        if self.stack and self.stack[-1].awaits_key:
            self.stop(spot, "a key must be a single text")
        is_list = isinstance(event, yaml.SequenceStartEvent)
        self.stack.append(Open(spot, path, items=[] if is_list else None))

    def add_scalar(self, event: yaml.ScalarEvent, spot: Spot) -> None:
        """
        A single value or a key.
        """
        if self.stack and self.stack[-1].awaits_key:
            self.begin_entry(self.stack[-1], event, spot)
            return
        if event.tag is not None:
            # Nobody knows what was meant; one problem is enough.
            self.add(RefusedNode(line=spot[0], column=spot[1]), spot)
            return
        value: bool | int | float | str | None = event.value
        if not event.style:
            try:
                value = resolve(event.value)
            except ValueError as error:
                self.problem(spot, f"{shown(event.value)} {error}", event.value)
                self.add(RefusedNode(line=spot[0], column=spot[1]), spot)
                return
        self.add(ScalarNode(value=value, text=event.value, line=spot[0], column=spot[1]), spot)

    def begin_entry(self, table: Open, event: yaml.ScalarEvent, spot: Spot) -> None:
        """
        Take note of a key; a key is always the text that was written.
        """
        key = event.value
        if len(key) > LONGEST_KEY:
            self.stop(spot, f"a key of {len(key)} characters; {LONGEST_KEY} are the most", shown(key))
        table.key = (key, spot)
        if key in table.entries:
            first = table.entries[key]
            self.problem(spot, f"{shown(key)} is written twice, first in line {first.line}", key)
        elif key == "<<" and not event.style:
            self.problem(spot, "merge keys (<<) are not used; write the keys out, or use variants", key)

    def add(self, element: Element, spot: Spot) -> None:
        """
        Put a finished element where it belongs.
        """
        if not self.stack:
            self.root = element
            return
        inner = self.stack[-1]
        if inner.items is not None:
            inner.items.append(element)
        elif inner.key is None:
            self.stop(spot, "a key must be a single text")
        else:
            key, (line, column) = inner.key
            inner.key = None
            if key != "<<":
                inner.entries.setdefault(key, TableEntry(key=key, value=element, line=line, column=column))

    @property
    def path(self) -> str:
        """
        The key path of what comes next.
        """
        return self.stack[-1].next_path if self.stack else ""

    def problem(self, spot: Spot, message: str, seen: str = "") -> None:
        """
        Take note of a problem and go on.
        """
        self.problems.add(spot, self.path, message, seen=seen)

    def stop(self, spot: Spot, message: str, seen: str = "") -> None:
        """
        Take note of a problem and give up.

        Raises:
            Unreadable: Always.
        """
        self.problem(spot, message, seen)
        raise Unreadable


def compose(text: str, problems: Problems) -> Element | None:
    """
    The one document of a text; ``None`` if there is none, with the problem noted.
    """
    text = text.removeprefix("\ufeff")
    if (bad := UNPRINTABLE.search(text)) is not None:
        spot = place_of(text, bad.start())
        problems.add(spot, "", f"the character U+{ord(bad[0]):04X} cannot stand in YAML; remove it")
        return None
    composer = Composer(problems)
    try:
        for event in events(text, composer):
            composer.take(event)
    except Unreadable:
        return None
    if composer.root is None:
        problems.add((1, 1), "", "the file is empty; a scenario has at least a name", allowed=("name: ...",))
    return composer.root


def events(text: str, composer: Composer) -> Iterator[yaml.Event]:
    """
    The parser's events; a mistake of syntax becomes a problem.

    Raises:
        Unreadable: There was one.
    """
    try:
        yield from yaml.parse(text, Loader=LOADER)  # pyright: ignore[reportUnknownMemberType]
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        spot = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        words = [word for word in (error.context, error.problem) if word]
        message = "not YAML: " + ", ".join(words)
        if line_of(text, spot[0])[spot[1] - 1 : spot[1]] == "\t":
            message += "; indent with spaces, not with tabs"
        composer.stop(spot, message)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        composer.stop((1, 1), f"not YAML: {error}"[:200])


def line_of(text: str, number: int) -> str:
    """
    One line of a text, from 1; empty if there is none.
    """
    lines = text.split("\n", number)
    return lines[number - 1] if number <= len(lines) else ""


def place_of(text: str, index: int) -> Spot:
    """
    Line and column of a character.
    """
    before = text[:index]
    return before.count("\n") + 1, index - (before.rfind("\n") + 1) + 1
