"""
Turn the text of a YAML file into elements with positions.

PyYAML's parser supplies events with positions. They are turned into elements here, without recursion and
without PyYAML's loaders, to be able to refuse deep nesting, aliases, tags and duplicate keys.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from itertools import islice

import yaml

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.scenario_files.yaml.elements import (
    MAX_DEPTH,
    Element,
    ListNode,
    Problems,
    RefusedNode,
    ScalarNode,
    Spot,
    TableEntry,
    TableNode,
    join,
    place_of,
    resolve,
    shown,
)

MAX_VALUES = 20_000
UNPRINTABLE = re.compile(r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
MAX_KEY_LENGTH = 1_000
MAX_PATH_LENGTH = 2_000
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
# A part of the message of libyaml 0.2.6 and newer.
_TOO_DEEP = "nesting depth"


class Unreadable(Exception):
    """The rest of the text cannot be read; the problem has been recorded."""


@dataclass(slots=True)
class Open:
    """
    A list or mapping whose end has not been reached.

    Attributes:
        spot: Line and column of its start.
        items: The items of a list; ``None`` for a mapping.
        entries: The entries of a mapping, by key.
        key: The key whose value comes next, with its position; ``None`` if a key comes next.
    """

    spot: Spot
    path: str
    items: list[Element] | None = None
    entries: dict[str, TableEntry] = field(default_factory=dict)
    key: tuple[str, Spot] | None = None

    @property
    def next_path(self) -> str:
        """The key path of the next element."""
        if self.items is not None:
            return join(self.path, len(self.items))
        return join(self.path, self.key[0]) if self.key is not None else self.path

    @property
    def awaits_key(self) -> bool:
        """Whether a key comes next."""
        return self.items is None and self.key is None

    def close(self) -> Element:
        """Return the finished element."""
        line, column = self.spot
        if self.items is not None:
            return ListNode(items=tuple(self.items), line=line, column=column)
        return TableNode(entries=tuple(self.entries.values()), line=line, column=column)


@dataclass(slots=True)
class Composer:
    """
    Builds elements from events.

    Attributes:
        stack: The open lists and mappings, innermost last.
        root: The finished document; ``None`` before its end.
        values: Number of values so far.
        documents: Number of documents so far.
    """

    problems: Problems
    stack: list[Open] = field(default_factory=list)
    root: Element | None = None
    values: int = 0
    documents: int = 0

    def take(self, event: yaml.Event) -> None:
        """Process one event; raise ``Unreadable`` if the rest cannot be read."""
        mark = event.start_mark
        spot = (mark.line + 1, mark.column + 1) if mark is not None else (1, 1)
        match event:
            case yaml.DocumentStartEvent():
                self.documents += 1
                if self.documents > 1:
                    self.stop(spot, "a second document starts here; write one scenario per file")
            case yaml.AliasEvent():
                self.problem(spot, "aliases (*) are not allowed; repeat the value")
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
        """Refuse anchors, tags and too many values."""
        self.values += 1
        if self.values > MAX_VALUES:
            self.stop(spot, f"the file has more than {MAX_VALUES} values")
        if event.anchor is not None:
            self.problem(spot, "anchors (&) are not allowed; repeat the value")
        tag = getattr(event, "tag", None)
        if tag is not None:
            self.problem(spot, "tags (!) are not allowed; use quotes for a text")

    def open(self, event: yaml.CollectionStartEvent, spot: Spot) -> None:
        """Start a list or a mapping."""
        if len(self.stack) >= MAX_DEPTH:
            self.stop(spot, f"nested more than {MAX_DEPTH} levels deep")
        path = self.path
        if len(path) > MAX_PATH_LENGTH:
            self.stop(spot, "the keys down to here are too long")
        if self.stack and self.stack[-1].awaits_key:
            self.stop(spot, "a key must be a single text")
        is_list = isinstance(event, yaml.SequenceStartEvent)
        self.stack.append(Open(spot, path, items=[] if is_list else None))

    def add_scalar(self, event: yaml.ScalarEvent, spot: Spot) -> None:
        """Add a single value, or start the entry of a key."""
        if self.stack and self.stack[-1].awaits_key:
            self.begin_entry(self.stack[-1], event, spot)
            return
        if event.tag is not None:
            # The tag was reported already.
            self.add(RefusedNode(line=spot[0], column=spot[1]), spot)
            return
        value: bool | int | float | str | None = event.value
        if not event.style:
            try:
                value = resolve(event.value)
            except ValueError as error:
                self.problem(spot, f"{shown(event.value)} {error}")
                self.add(RefusedNode(line=spot[0], column=spot[1]), spot)
                return
        self.add(ScalarNode(value=value, text=event.value, line=spot[0], column=spot[1]), spot)

    def begin_entry(self, table: Open, event: yaml.ScalarEvent, spot: Spot) -> None:
        """Start the entry of a key; a key is always the text as written."""
        key = event.value
        if len(key) > MAX_KEY_LENGTH:
            self.stop(spot, f"a key of {len(key)} characters; the maximum is {MAX_KEY_LENGTH}")
        table.key = (key, spot)
        if key in table.entries:
            first = table.entries[key]
            self.problem(spot, f"{shown(key)} is written twice, first in line {first.line}")
        elif key == "<<" and not event.style:
            self.problem(spot, "merge keys (<<) are not allowed; repeat the keys, or use variants")

    def add(self, element: Element, spot: Spot) -> None:
        """Add a finished element to the innermost open list or mapping."""
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
        """The key path of the next element."""
        return self.stack[-1].next_path if self.stack else ""

    def problem(self, spot: Spot, message: str) -> None:
        """Record a problem and continue."""
        self.problems.add(spot, self.path, message)

    def stop(self, spot: Spot, message: str) -> None:
        """Record a problem and end reading: raise ``Unreadable``."""
        self.problem(spot, message)
        raise Unreadable


def compose(text: str, problems: Problems) -> Element | None:
    """Return the only document of a text, or record the problem and return ``None``."""
    text = text.removeprefix("\ufeff")
    if (bad := UNPRINTABLE.search(text)) is not None:
        spot = place_of(text, bad.start())
        problems.add(spot, "", f"YAML does not allow the character U+{ord(bad[0]):04X}; remove it")
        return None
    composer = Composer(problems)
    try:
        for event in events(text, composer):
            composer.take(event)
    except Unreadable:
        return None
    if composer.root is None:
        problems.add((1, 1), "", "the file is empty; write at least a name", allowed=("name: ...",))
    return composer.root


def events(text: str, composer: Composer) -> Iterator[yaml.Event]:
    """Yield the parser's events; after a syntax error record a problem and raise ``Unreadable``."""
    try:
        yield from parse(text)
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


def parse(text: str) -> Iterator[yaml.Event]:
    """Yield the parser's events; raise ``yaml.YAMLError`` after a syntax error."""
    yielded = 0
    try:
        for event in yaml.parse(text, Loader=LOADER):  # pyright: ignore[reportUnknownMemberType]
            yield event
            yielded += 1
    except yaml.MarkedYAMLError as error:
        # libyaml reads ahead, and may refuse deep nesting by a limit of its own, before the events that lead
        # to ours. The parser in Python has no limit.
        if LOADER is yaml.SafeLoader or _TOO_DEEP not in str(error.problem):
            raise
        slowly = yaml.parse(text, Loader=yaml.SafeLoader)  # pyright: ignore[reportUnknownMemberType]
        yield from islice(slowly, yielded, None)


def line_of(text: str, number: int) -> str:
    """Return one line of a text, counted from 1; empty if it does not exist."""
    lines = text.split("\n", number)
    return lines[number - 1] if number <= len(lines) else ""
