"""
Derivation: the template of texts that were one lap apart.

Pure.

Texts are cut into tokens and aligned, first strictly, then leniently. A reading counts if every value then
moves by a rule and what was inserted has one shape; of several the one that explains the most with the
least is taken.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from pytest_hookharness.judging.state_diff.appended_blocks import (
    Manner,
    Places,
    align,
    with_older_chunks,
)
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.progressions import (
    Counting,
    Random,
    Stamped,
    TimestampProgression,
    Varying,
)
from pytest_hookharness.judging.state_diff.slots import pieces_of, still
from pytest_hookharness.judging.state_diff.templates import Item, Region, Template, TemplateSlot
from pytest_hookharness.judging.state_diff.timestamps import (
    BOUNDS,
    Reading,
    TimestampKind,
    Token,
    cut,
    shape,
)

# What may be looked at token by token, in characters.
_MOST = 256 * 1024
# Above this, equal ends are cut off before; below it, their tokens help to see where a chunk begins.
_SMALL = 8 * 1024
# What may be looked at once more in a more lenient way, and letter by letter.
_LENIENT = 64 * 1024
_LETTERS = 2 * 1024
_CONTEXT = 24
_MARGIN = 2 * 1024
# What is worth to be looked for as one block.
_BLOCK = 2 * 1024
_BOUND = re.compile(f"[{re.escape(BOUNDS)}]")
# Of more values nobody could try each.
_VALUES = 10_000


@dataclass(frozen=True, slots=True)
class _Column:
    """
    One token, followed through the laps.

    Attributes:
        born: The text in which it was first, counted from 0.
        tokens: It, in that text and in all later ones.
    """

    born: int
    tokens: tuple[Token, ...]


def derive(texts: Sequence[str], clock: SessionClock) -> Template | str:
    """
    The template of some texts, oldest first; else why there is none, as the end of a sentence.
    """
    head, tail = _ends(texts)
    inner = [text[head : len(text) - tail] for text in texts]
    if max(map(len, inner)) > _MOST:
        return f"more than {_MOST // 1024} KiB of it change from lap to lap"
    newest = texts[-1]
    before = list(still(newest[:head], clock, len(texts)))
    after = list(still(newest[len(newest) - tail :], clock, len(texts)))
    for reading in Reading:
        most = {Reading.PLAIN: _MOST, Reading.LETTERS: _LETTERS}.get(reading, _LENIENT)
        if max(map(len, inner)) > most:
            continue
        found = list(_readings(inner, reading, clock, newest[max(0, head - _CONTEXT) : head]))
        if found:
            items = min(found, key=_cost)
            return with_older_chunks(Template(_joined([*before, *items, *after])), clock)
    return f"the form of its text changes from lap to lap, first in line {_first_line(texts)}"


def _readings(inner: list[str], reading: Reading, clock: SessionClock, before: str) -> Iterator[list[Item]]:
    tokens = _cut_together(inner, reading)
    shapes = [[shape(token, reading) for token in row] for row in tokens]
    values = [[token.text for token in row] for row in tokens]
    seen: list[list[Places]] = []
    for manner in Manner:
        places: list[Places] = []
        for older, newer in pairwise(range(len(inner))):
            found = align(shapes[older], shapes[newer], (values[older], values[newer]), manner)
            if found is None:
                break
            places.append(found)
        if len(places) == len(inner) - 1 and places not in seen:
            seen.append(places)
            items = _items(_columns(tokens, places), len(inner) - 1, clock, before)
            if items is not None:
                yield items
        if len(set(map(len, tokens))) == 1 and seen:
            # Nothing was inserted, so there is only one way to see it.
            return


def _cut_together(texts: list[str], reading: Reading) -> list[list[Token]]:
    """
    The tokens of some texts; what is long and the same in all of them is one token.
    """
    rows: list[list[Token]] = [[] for _ in texts]
    left = texts
    while min(map(len, left)) > _BLOCK:
        starts = [match.start() if (match := _BOUND.search(text)) else len(text) for text in left]
        rest = [text[start:] for text, start in zip(left, starts, strict=True)]
        size = _ends(rest)[0]
        if size < _BLOCK:
            break
        for row, text, start in zip(rows, left, starts, strict=True):
            row.extend(cut(text[:start], reading))
            row.append(Token(TimestampKind.OTHER, text[start : start + size]))
        left = [text[size:] for text in rest]
    for row, text in zip(rows, left, strict=True):
        row.extend(cut(text, reading))
    return rows


def _columns(tokens: list[list[Token]], places: list[Places]) -> list[_Column]:
    rows: list[tuple[int, list[Token]]] = [(0, [token]) for token in tokens[0]]
    for lap, aligned in enumerate(places, 1):
        newer: list[tuple[int, list[Token]]] = []
        for token, place in zip(tokens[lap], aligned, strict=True):
            if place is None:
                newer.append((lap, [token]))
            else:
                rows[place][1].append(token)
                newer.append(rows[place])
        rows = newer
    return [_Column(born, tuple(row)) for born, row in rows]


def _items(columns: list[_Column], last: int, clock: SessionClock, before: str) -> list[Item] | None:
    items: list[Item] = []
    if sum(column.born == 0 and len(set(column.tokens)) > 1 for column in columns) > _VALUES:
        return None
    for grown, group in groupby(columns, key=lambda column: column.born > 0):
        stretch = list(group)
        if grown:
            region = _region(stretch, last, clock)
            if region is None:
                return None
            items.append(region)
            continue
        for column in stretch:
            found = pieces_of(column.tokens, clock, before)
            if found is None:
                return None
            items += found
            before = (before + column.tokens[-1].text)[-_CONTEXT:]
    return items


def _region(stretch: list[_Column], last: int, clock: SessionClock) -> Region | None:
    runs = [list(group) for _, group in groupby(stretch, key=lambda column: column.born)]
    order = [run[0].born for run in runs]
    upward = list(range(1, last + 1))
    if last < 2 or order not in (upward, upward[::-1]):
        return None
    rows = [[column.tokens for column in run] for run in (runs if order == upward else runs[::-1])]
    fixed = all(len(set(tokens)) == 1 for row in rows for tokens in row)
    if not fixed or len(set(map(len, rows))) > 1:
        return None
    shape_: list[str | TemplateSlot] = []
    before = ""
    for tokens in zip(*([tokens[0] for tokens in row] for row in rows), strict=True):
        found = pieces_of(tokens, clock, before)
        if found is None or len({token.kind for token in tokens}) > 1:
            return None
        shape_ += found
        before = (before + tokens[-1].text)[-_CONTEXT:]
    chunks = tuple("".join(column.tokens[0].text for column in run) for run in runs)
    pieces = [item for item in _joined(shape_) if not isinstance(item, Region)]
    return Region(tuple(pieces), chunks, born=last, front=order != upward)


def _joined(items: Sequence[Item]) -> tuple[Item, ...]:
    joined: list[Item] = []
    for item in items:
        if isinstance(item, str) and joined and isinstance(joined[-1], str):
            joined[-1] += item
        else:
            joined.append(item)
    return tuple(joined)


def _cost(items: Sequence[Item]) -> float:
    total = 0.0
    for item in items:
        if isinstance(item, Region):
            total += 1 + 0.01 * len(item.shape) + _cost(item.shape)
        elif isinstance(item, TemplateSlot) and not item.quiet:
            match item.motion:
                case Counting(sure=sure):
                    total += 1 if sure else 1.5
                case Stamped():
                    total += 1
                case Varying() | Random():
                    total += 2
                case TimestampProgression():
                    total += 3
    return total


def _ends(texts: Sequence[str]) -> tuple[int, int]:
    shortest = min(map(len, texts))
    head = bisect_left(range(shortest), True, key=lambda size: _differ(texts, 0, size + 1))
    head = max(texts[0].rfind(bound, 0, head) for bound in BOUNDS) + 1
    if max(map(len, texts)) - head <= _SMALL:
        return head, 0
    tail = bisect_left(range(shortest - head), True, key=lambda size: _differ(texts, -size - 1, None))
    # What was added may end like what stood there before, so some of the end is looked at.
    tail = max(0, tail - _MARGIN)
    end = texts[0][len(texts[0]) - tail :]
    cuts = [place for bound in BOUNDS if (place := end.find(bound)) >= 0]
    return head, tail - min(cuts) if cuts else 0


def _differ(texts: Sequence[str], start: int, end: int | None) -> bool:
    return len({text[start:end] for text in texts}) > 1


def _first_line(texts: Sequence[str]) -> int:
    line = 1
    for older, newer in pairwise(texts):
        one, other = cut(older[:_LENIENT], Reading.PLAIN), cut(newer[:_LENIENT], Reading.PLAIN)
        line = 1
        for mine, theirs in zip(one, other, strict=False):
            if shape(mine, Reading.PLAIN) != shape(theirs, Reading.PLAIN):
                return line
            line += theirs.text.count("\n")
    return line
