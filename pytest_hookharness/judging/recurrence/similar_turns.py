"""
Similar turns: turns that are equal except for numbers, times and ids.

If hooks count or write the time, no state comes back exactly. What comes back are the actions of the hooks
and the state of host and agent. How the files changed meanwhile is compared elsewhere (`state_diff`).

A random id can look like a word. Other texts with ids at the same place reveal it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import groupby

from pytest_hookharness.judging.state_diff.timestamps import Reading, Token, TokenKind, shape, tokenize
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Decision
from pytest_hookharness.model.trace import Change, Happened, HookEvent, HookRun, Moved, Performed, Step

_HEXADECIMAL = re.compile(r"\b0[xX][0-9a-fA-F]+\b")
# Alphabets of random ids, the smallest first.
_ALPHABETS = tuple(
    map(re.compile, ("[0-9a-f]+", "[0-9A-F]+", "[0-9a-z]+", "[0-9A-Z]+", "[0-9A-Za-z]+", r"\w+"))
)
# Length of the shortest id.
_SHORTEST = 6
# Longer lines are not compared with others.
_LONGEST = 4_000
# Ids that must have been seen at a place before a word there counts as an id, too.
_OTHERS = 2


class TextOutlines:
    """
    The outlines of the texts of one run, in the order of the calls.

    A line keeps its first outline. A word counts as an id if two or more ids of the same length and alphabet
    were seen before it at the same place of otherwise equal lines.

    Attributes:
        wording_varies: Whether only the number of texts that hooks say counts, not their words.
    """

    def __init__(self) -> None:
        self.wording_varies = False
        self._lines: dict[str, str] = {}
        # By their ids: steps that others are compared with, whether words counted, and what was done.
        self._expected: dict[int, tuple[Step, bool, str]] = {}
        self._ids: dict[tuple[str, int], set[str]] = {}

    def of(self, text: str) -> str:
        """Return a text without the values of numbers, times and ids; equal consecutive lines are joined."""
        lines = map(self._line, _HEXADECIMAL.sub("0", text).split("\n"))
        return "\n".join(line for line, _ in groupby(lines))

    def of_answer(self, text: str) -> str:
        """Return the outline of a text that a hook said."""
        return "" if self.wording_varies else self.of(text)

    def of_expected(self, step: Step) -> str:
        """Return what was done in a step with which many are compared."""
        known = self._expected.get(id(step))
        if known is None or known[:2] != (step, self.wording_varies):
            known = self._expected[id(step)] = step, self.wording_varies, _exchange(step, self)
        return known[2]

    def _line(self, line: str) -> str:
        if len(line) > _LONGEST:
            return "".join(map(_shape, tokenize(line, Reading.RANDOM)))
        if line not in self._lines:
            self._lines[line] = self._read(tokenize(line, Reading.RANDOM))
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
            elif strict == loose[place] and token.kind is TokenKind.RUN:
                ids.add(token.text)
            read.append(strict)
        return "".join(read)


def _shape(token: Token) -> str:
    # A number stays a number whatever its length, and lower-case text or capitals are a word.
    word = token.text.isalpha() and (token.text[1:].islower() or token.text.isupper())
    plain = token.kind is TokenKind.NUMBER or word
    return shape(token, Reading.PLAIN if plain else Reading.RANDOM)


def _loosely(token: Token) -> str:
    # A random id may happen to consist of digits only.
    digits = token.kind is TokenKind.NUMBER and token.text.isdecimal() and len(token.text) >= _SHORTEST
    return f"\0{len(token.text)}" if digits else shape(token, Reading.RANDOM)


def _may_be_drawn(word: str, ids: set[str]) -> bool:
    """Return whether a word may be one more of these ids."""
    if len(ids) < _OTHERS or not word.isalnum():
        return False
    alphabet = next((one for one in _ALPHABETS if all(map(one.fullmatch, ids))), None)
    return alphabet is not None and alphabet.fullmatch(word) is not None


# Longer cycles can only be proved exactly.
LONGEST_PERIOD = 30
# Similar periods that are observed in any case: a count modulo a small number hides in the first ones.
_OBSERVED = 3


@dataclass(frozen=True, slots=True)
class TurnSignature:
    """One turn without its numbers, times and ids: what was done, and the state after it except files."""

    actions: tuple[str, ...]
    state: str


def actions_of(steps: Iterable[Step], read: TextOutlines) -> tuple[str, ...]:
    """Return what was done and decided in some steps, without numbers, times and ids."""
    return tuple(_exchange(step, read) for step in steps)


def describe_difference(expected: Iterable[Step], seen: Iterable[Step], read: TextOutlines) -> str:
    """Describe the first difference between the actions of two turns; empty if they are equal."""
    first, second = [*expected], [*seen]
    for one, other in zip(first, second, strict=False):
        if read.of_expected(one) != _exchange(other, read):
            return _first_difference(one, other)
    if len(first) == len(second):
        return ""
    return f"additionally {_words(second[len(first)])}" if len(second) > len(first) else "fewer steps"


def _first_difference(expected: Step, seen: Step) -> str:
    one, other = expected.exchange, seen.exchange
    if not isinstance(one, HookEvent) or not isinstance(other, HookEvent) or one.event != other.event:
        said, usual = _words(seen), _words(expected)
        return f"{said} with other values" if said == usual else f"{said} instead of {usual}"
    before, after = one.decision, other.decision
    if before.refused != after.refused:
        return f"{other.event} was {'refused' if after.refused else 'allowed'}"
    if before.reasons != after.reasons and after.refused:
        return f"{other.event} was refused with another reason: {' '.join(after.reasons)[:80]!r}"
    return f"{other.event} got another answer"


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


def find_similar_periods(newest: int, signature: Callable[[int], TurnSignature | None]) -> Iterator[int]:
    """Yield the periods after which the newest turn was similar twice, with all between; shortest first."""
    longest = min(LONGEST_PERIOD, (newest - 1) // 2)
    # From the newest back, and each only once, because this is done after every turn.
    found = [signature(newest - back) for back in range(2 * longest + 1)]
    for period in range(1, longest + 1):
        first, last = found[2 * period], found[0]
        if first is None or last is None:
            return
        if first.state == last.state and found[:period] == found[period : 2 * period]:
            yield period


def choose_observed(
    turn: int, periods: Iterable[int], differing: Callable[[int, int], Iterable[Change]]
) -> Iterator[int]:
    """
    Yield the periods that are worth observing: the first, and those after which something else recurs.

    ``differing`` returns what differs between the states after the last repetitions of a period.
    """
    compared: list[int] = []
    always: set[str] = set()
    for place, period in enumerate(periods):
        if place < _OBSERVED:
            yield period
            compared.append(period)
            continue
        # Whether something recurs at a longer period is looked up once in each repetition of it.
        if turn % period != 1:
            continue
        if compared:
            always = set.intersection(*({each.path for each in differing(turn, one)} for one in compared))
            compared.clear()
        paths = {change.path for change in differing(turn, period)}
        if always - paths:
            yield period
        always &= paths


def _exchange(step: Step, read: TextOutlines) -> str:
    match step.exchange:
        case Moved(move=move):
            return f"moved {read.of(repr(move))}"
        case Happened(event=event):
            return f"happened {read.of(repr(event))}"
        case Performed(call=call, result=result, refused=refused):
            values = (call.name, _outline_of(call.input, read), read.of(result.text), result.failed, refused)
            return f"performed {values!r}"
        case HookEvent(event=event, target=target, hook_runs=hook_runs, decision=decision):
            runs = [_hook_run(item) for item in hook_runs]
            return f"hooked {event} {target} {runs!r} {_decision(decision, read)}"


def _hook_run(hook_run: HookRun) -> tuple[object, ...]:
    reply, ending = hook_run.reply, hook_run.ending
    end = "" if ending is None else type(ending).__name__
    if isinstance(ending, Exited):
        end = f"exit {ending.code}"
    return hook_run.hook.source, end, reply.ruling.value, reply.fault or "", hook_run.transcript_opened


def _decision(decision: Decision, read: TextOutlines) -> str:
    values = {item.name: getattr(decision, item.name) for item in fields(decision) if item.name != "rule"}
    said = {name: [*map(read.of_answer, values[name])] for name in ("reasons", "to_agent", "to_user")}
    return repr({name: _outline_of(value, read) for name, value in values.items()} | said)


def _outline_of(value: object, read: TextOutlines) -> object:
    match value:
        case str():
            return read.of(value)
        case Mapping():
            return {str(key): _outline_of(item, read) for key, item in value.items()}
        case list() | tuple():
            return [_outline_of(item, read) for item in value]
        case _ if is_dataclass(value):
            return read.of(repr(value))
        case _:
            return value
