"""
Likeness: turns that are the same but for numbers, times and ids.

Pure. A loop whose hooks count or stamp never comes back to the same state; what
comes back is the conduct of its hooks and the standing of host and agent. How the files moved meanwhile
is not looked at here.

Outlines: what is left of a text without its numbers, times and ids.

Pure. Chance now and then draws an id that is written like a word; what stood at its
place in other texts tells.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import groupby
from typing import TypeAlias

from pytest_hookharness.judging.state_diff.timestamps import Reading, TimestampKind, Token, cut, shape
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Decision
from pytest_hookharness.model.trace import Happened, HookEvent, HookRun, Moved, Performed, Step

_HEXADECIMAL = re.compile(r"\b0[xX][0-9a-fA-F]+\b")
# What ids are drawn from, the narrowest first.
_ALPHABETS = tuple(
    map(re.compile, ("[0-9a-f]+", "[0-9A-F]+", "[0-9a-z]+", "[0-9A-Z]+", "[0-9A-Za-z]+", r"\w+"))
)
# Letters of the shortest id.
_SHORTEST = 6
# Longer lines are not remembered.
_LONGEST = 4_000
# So many others must have been seen at a place before what looks like a word is taken for an id.
_OTHERS = 2


class TextOutlines:
    """
    The outlines of the texts of one run, in the order in which they are asked for.

    A line keeps its outline. What looks like a word is an id if two or more ids of its length and alphabet
    stood at the same place of lines that are otherwise alike, and this word did not before they were known.
    """

    def __init__(self) -> None:
        self._lines: dict[str, str] = {}
        self._ids: dict[tuple[str, int], set[str]] = {}

    def of(self, text: str) -> str:
        """
        A text without the values of numbers, times and ids; lines that are alike then stand there once.
        """
        lines = map(self._line, _HEXADECIMAL.sub("0", text).split("\n"))
        return "\n".join(line for line, _ in groupby(lines))

    def _line(self, line: str) -> str:
        if len(line) > _LONGEST:
            return "".join(map(_shape, cut(line, Reading.RANDOM)))
        if line not in self._lines:
            self._lines[line] = self._read(cut(line, Reading.RANDOM))
        return self._lines[line]

    def _read(self, tokens: list[Token]) -> str:
        loose = [_loosely(token) for token in tokens]
        frame = "".join(loose)
        read: list[str] = []
        for place, token in enumerate(tokens):
            strict = _shape(token)
            ids = self._ids.setdefault((frame, place), set()) if loose[place] != token.text else set()
            if strict != loose[place] and _may_be_drawn(token.text, ids):
                strict = loose[place]
            elif strict == loose[place] and token.kind is TimestampKind.RUN:
                ids.add(token.text)
            read.append(strict)
        return "".join(read)


def outline(text: str) -> str:
    """
    The outline of a single text, of which no other is known.
    """
    return TextOutlines().of(text)


def _shape(token: Token) -> str:
    # However many digits a number has, it is a number; and what is written like a word is one.
    word = token.text.isalpha() and (token.text[1:].islower() or token.text.isupper())
    plain = token.kind is TimestampKind.NUMBER or word
    return shape(token, Reading.PLAIN if plain else Reading.RANDOM)


def _loosely(token: Token) -> str:
    # Chance may draw digits alone, and as few as the shortest id has.
    digits = token.kind is TimestampKind.NUMBER and token.text.isdecimal() and len(token.text) >= _SHORTEST
    return f"\0{len(token.text)}" if digits else shape(token, Reading.RANDOM)


def _may_be_drawn(word: str, ids: set[str]) -> bool:
    """
    Whether a word may be one more of these ids.
    """
    if len(ids) < _OTHERS or not word.isalnum():
        return False
    alphabet = next((one for one in _ALPHABETS if all(map(one.fullmatch, ids))), None)
    return alphabet is not None and alphabet.fullmatch(word) is not None


# Longer cycles are left to exact proofs.
LONGEST = 12
# A text without its numbers, times and ids.
TextOutline: TypeAlias = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class TurnSignature:
    """
    One turn without its numbers, times and ids.

    Attributes:
        conduct: What was done and decided in it, in order.
        standing: What holds after it, files apart: host, agent, and what the agent will see.
    """

    conduct: tuple[str, ...]
    standing: str


def conduct(steps: Iterable[Step], read: TextOutline = outline) -> tuple[str, ...]:
    """
    What was done and decided in some steps, without numbers, times and ids.
    """
    return tuple(_exchange(step, read) for step in steps)


def difference(expected: Iterable[Step], seen: Iterable[Step], read: TextOutline = outline) -> str:
    """
    Where the conduct of one turn departs from that of another, in a few words; empty if nowhere.
    """
    first, second = [*expected], [*seen]
    for one, other in zip(first, second, strict=False):
        if _exchange(one, read) != _exchange(other, read):
            return _departure(one, other)
    if len(first) == len(second):
        return ""
    return f"{_words(second[len(first)])} came in addition" if len(second) > len(first) else "less took place"


def _departure(expected: Step, seen: Step) -> str:
    one, other = expected.exchange, seen.exchange
    if not isinstance(one, HookEvent) or not isinstance(other, HookEvent) or one.event != other.event:
        return f"{_words(seen)} instead of {_words(expected)}"
    before, after = one.decision, other.decision
    if before.refused != after.refused:
        return f"{other.event} was {'refused' if after.refused else 'let through'}"
    if before.reasons != after.reasons and after.refused:
        return f"{other.event} was refused with other words: {' '.join(after.reasons)[:80]!r}"
    return f"{other.event} was answered otherwise"


def _words(step: Step) -> str:
    match step.exchange:
        case Moved(move=move):
            return f"the agent's {type(move).__name__.lower()}"
        case Happened(event=event):
            return f"the script's {type(event).__name__.lower()}"
        case Performed(call=call):
            return f"a call of {call.name}"
        case HookEvent(event=event):
            return f"the event {event}"


def like_periods(newest: int, likeness: Callable[[int], TurnSignature | None]) -> Iterator[int]:
    """
    The periods after which the newest turn was alike twice, with all turns between; the shortest first.
    """
    for period in range(1, min(LONGEST, (newest - 1) // 2) + 1):
        first, last = likeness(newest - 2 * period), likeness(newest)
        if first is None or last is None:
            return
        lap = range(newest - period + 1, newest + 1)
        if first.standing == last.standing and all(likeness(turn) == likeness(turn - period) for turn in lap):
            yield period


def _exchange(step: Step, read: TextOutline) -> str:
    match step.exchange:
        case Moved(move=move):
            return f"moved {read(repr(move))}"
        case Happened(event=event):
            return f"happened {read(repr(event))}"
        case Performed(call=call, result=result, refused=refused):
            said = (
                call.name,
                _shape_of_likeness(call.input, read),
                read(result.text),
                result.failed,
                refused,
            )
            return f"performed {said!r}"
        case HookEvent(event=event, target=target, hook_runs=fires, decision=decision):
            return f"hooked {event} {target} {[_fire(fire) for fire in fires]!r} {_decision(decision, read)}"


def _fire(fire: HookRun) -> tuple[object, ...]:
    reply = fire.reply
    return (
        fire.hook.source,
        _ending(fire.run),
        reply.ruling.value,
        reply.fault or "",
        fire.transcript_opened,
    )


def _ending(run: ProcessResult | None) -> str:
    if run is None:
        return ""
    ending = run.ending
    return f"exit {ending.code}" if isinstance(ending, Exited) else type(ending).__name__


def _decision(decision: Decision, read: TextOutline) -> str:
    values = {item.name: getattr(decision, item.name) for item in fields(decision) if item.name != "rule"}
    return repr({name: _shape_of_likeness(value, read) for name, value in values.items()})


def _shape_of_likeness(value: object, read: TextOutline) -> object:
    match value:
        case str():
            return read(value)
        case Mapping():
            return {str(key): _shape_of_likeness(item, read) for key, item in value.items()}
        case list() | tuple():
            return [_shape_of_likeness(item, read) for item in value]
        case _ if is_dataclass(value):
            return read(repr(value))
        case _:
            return value
