"""
Inference of the template of texts that were one repetition apart.

The texts are cut into tokens and aligned, first strictly, then leniently. An alignment is accepted if every
changed value has a progression and all inserted chunks have one shape. Of several, the cheapest one wins.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise

from pytest_hookharness.judging.state_diff import progressions
from pytest_hookharness.judging.state_diff.appended_blocks import (
    AlignFirst,
    Alignment,
    align,
    with_older_chunks,
)
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.templates import (
    AppendedBlock,
    Item,
    Template,
    TemplateSlot,
    fixed_pieces,
    infer_pieces,
)
from pytest_hookharness.judging.state_diff.timestamps import (
    BOUNDS,
    Reading,
    Token,
    TokenKind,
    shape,
    tokenize,
)
from pytest_hookharness.model.fast_dataclass import dataclass

# The longest text that is compared token by token, in characters.
_MOST = 256 * 1024
# In longer texts equal ends are removed first; in shorter ones they help to see where a chunk begins.
_SMALL = 8 * 1024
# The longest texts for the lenient readings, and for the reading letter by letter.
_LENIENT = 64 * 1024
_LETTERS = 2 * 1024
_CONTEXT = 24
_MARGIN = 2 * 1024
# The shortest equal stretch that becomes a single token.
_BLOCK = 2 * 1024
_BOUND = re.compile(f"[{re.escape(BOUNDS)}]")
# With more changing values the parts could not be probed one by one.
_MOST_VALUES = 10_000


@dataclass(frozen=True, slots=True)
class _Column:
    """One token in each text, from the first one that contains it."""

    first: int
    tokens: tuple[Token, ...]


def infer_template(texts: Sequence[str], clock: SessionClock) -> Template | None:
    """
    Return the template of some texts, oldest first.

    Return ``None`` if the form changes in each repetition, or if too much of the text changes.
    """
    head, tail = _ends(texts)
    inner = [text[head : len(text) - tail] for text in texts]
    if max(map(len, inner)) > _MOST:
        return None
    newest = texts[-1]
    before = list(fixed_pieces(newest[:head], clock, len(texts)))
    after = list(fixed_pieces(newest[len(newest) - tail :], clock, len(texts)))
    # The strictest reading that explains the texts wins, because lenient ones can explain almost anything.
    for reading in Reading:
        most = {Reading.PLAIN: _MOST, Reading.LETTERS: _LETTERS}.get(reading, _LENIENT)
        if max(map(len, inner)) > most:
            continue
        found = list(_readings(inner, reading, clock, newest[max(0, head - _CONTEXT) : head]))
        if found:
            items = min(found, key=_cost)
            return with_older_chunks(Template(_joined([*before, *items, *after])), clock)
    return None


def _align_all(shapes: list[list[str]], values: list[list[str]], first: AlignFirst) -> list[Alignment] | None:
    places: list[Alignment] = []
    for (shape_of, text_of), (next_shape, next_text) in pairwise(zip(shapes, values, strict=True)):
        found = align(shape_of, next_shape, (text_of, next_text), first)
        if found is None:
            return None
        places.append(found)
    return places


def _readings(inner: list[str], reading: Reading, clock: SessionClock, before: str) -> Iterator[list[Item]]:
    tokens = _cut_together(inner, reading)
    shapes = [[shape(token, reading) for token in row] for row in tokens]
    values = [[token.text for token in row] for row in tokens]
    seen: list[list[Alignment]] = []
    for first in AlignFirst:
        places = _align_all(shapes, values, first)
        if places is not None and places not in seen:
            seen.append(places)
            items = _items(_columns(tokens, places), len(inner) - 1, clock, before)
            if items is not None:
                yield items
        if len(set(map(len, tokens))) == 1 and seen:
            # Nothing was inserted, so all alignments are the same.
            return


def _cut_together(texts: list[str], reading: Reading) -> list[list[Token]]:
    """Cut texts into tokens; a long stretch that is equal in all of them becomes one token."""
    rows: list[list[Token]] = [[] for _ in texts]
    left = texts
    while min(map(len, left)) > _BLOCK:
        starts = [match.start() if (match := _BOUND.search(text)) else len(text) for text in left]
        rest = [text[start:] for text, start in zip(left, starts, strict=True)]
        size = _ends(rest)[0]
        if size < _BLOCK:
            break
        for row, text, start in zip(rows, left, starts, strict=True):
            row.extend(tokenize(text[:start], reading))
            row.append(Token(TokenKind.OTHER, text[start : start + size]))
        left = [text[size:] for text in rest]
    for row, text in zip(rows, left, strict=True):
        row.extend(tokenize(text, reading))
    return rows


def _columns(tokens: list[list[Token]], places: list[Alignment]) -> list[_Column]:
    rows: list[tuple[int, list[Token]]] = [(0, [token]) for token in tokens[0]]
    for number, aligned in enumerate(places, 1):
        newer: list[tuple[int, list[Token]]] = []
        for token, place in zip(tokens[number], aligned, strict=True):
            if place is None:
                newer.append((number, [token]))
            else:
                rows[place][1].append(token)
                newer.append(rows[place])
        rows = newer
    return [_Column(first, tuple(row)) for first, row in rows]


def _items(columns: list[_Column], last: int, clock: SessionClock, before: str) -> list[Item] | None:
    items: list[Item] = []
    if sum(column.first == 0 and len(set(column.tokens)) > 1 for column in columns) > _MOST_VALUES:
        return None
    for grown, group in groupby(columns, key=lambda column: column.first > 0):
        stretch = list(group)
        if grown:
            block = _block(stretch, last, clock)
            if block is None:
                return None
            items.append(block)
            continue
        for column in stretch:
            found = infer_pieces(column.tokens, clock, before)
            if found is None:
                return None
            items += found
            before = (before + column.tokens[-1].text)[-_CONTEXT:]
    return items


def _block(stretch: list[_Column], last: int, clock: SessionClock) -> AppendedBlock | None:
    # Each text must have added one chunk, always at the same end. One addition alone shows no shape.
    runs = [list(group) for _, group in groupby(stretch, key=lambda column: column.first)]
    order = [run[0].first for run in runs]
    upward = list(range(1, last + 1))
    if last < 2 or order not in (upward, upward[::-1]):
        return None
    rows = [[column.tokens for column in run] for run in (runs if order == upward else runs[::-1])]
    # A chunk must not change after it was added.
    fixed = all(len(set(tokens)) == 1 for row in rows for tokens in row)
    if not fixed or len(set(map(len, rows))) > 1:
        return None
    shape_: list[str | TemplateSlot] = []
    before = ""
    for tokens in zip(*([tokens[0] for tokens in row] for row in rows), strict=True):
        found = infer_pieces(tokens, clock, before)
        if found is None or len({token.kind for token in tokens}) > 1:
            return None
        shape_ += found
        before = (before + tokens[-1].text)[-_CONTEXT:]
    chunks = tuple("".join(column.tokens[0].text for column in run) for run in runs)
    pieces = [item for item in _joined(shape_) if not isinstance(item, AppendedBlock)]
    return AppendedBlock(tuple(pieces), chunks, observed=last, prepended=order != upward)


def _joined(items: Sequence[Item]) -> tuple[Item, ...]:
    joined: list[Item] = []
    for item in items:
        if isinstance(item, str) and joined and isinstance(joined[-1], str):
            joined[-1] += item
        else:
            joined.append(item)
    return tuple(joined)


def _cost(items: Sequence[Item]) -> float:
    # Fixed text and quiet slots cost nothing. The less a piece says about its values, the more it costs.
    total = 0.0
    for item in items:
        if isinstance(item, AppendedBlock):
            total += 1 + 0.01 * len(item.shape) + _cost(item.shape)
        elif isinstance(item, TemplateSlot) and not item.quiet:
            match item.progression:
                case progressions.Counting(confirmed=confirmed):
                    total += 1 if confirmed else 1.5
                case progressions.CurrentTime():
                    total += 1
                case progressions.Varying() | progressions.Random():
                    total += 2
                case progressions.OtherTime():
                    total += 3
    return total


def _ends(texts: Sequence[str]) -> tuple[int, int]:
    shortest = min(map(len, texts))
    head = bisect_left(range(shortest), True, key=lambda size: _differ(texts, 0, size + 1))
    # No token may be cut in two, so the equal part ends at a bound.
    head = max(texts[0].rfind(bound, 0, head) for bound in BOUNDS) + 1
    if max(map(len, texts)) - head <= _SMALL:
        return head, 0
    tail = bisect_left(range(shortest - head), True, key=lambda size: _differ(texts, -size - 1, None))
    # An added chunk may end like the text before it, so part of the equal end is compared as well.
    tail = max(0, tail - _MARGIN)
    end = texts[0][len(texts[0]) - tail :]
    cuts = [place for bound in BOUNDS if (place := end.find(bound)) >= 0]
    return head, tail - min(cuts) if cuts else 0


def _differ(texts: Sequence[str], start: int, end: int | None) -> bool:
    return len({text[start:end] for text in texts}) > 1
