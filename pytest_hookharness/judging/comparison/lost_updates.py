"""
Hook runs side by side: files that contain less than after runs in sequence, and runs that end differently.

Counted files are read as counters: how many runs a file counts, and whether it is whole. Files without a
named counter are weighed. What differs between two rounds one after the other (times, process numbers) shows
nothing; only a measure that both rounds agree on is compared with the runs side by side. A run that leaves
its work to another run loses nothing, so a file must have been written as often as one after the other
before its content counts as lost. A run that leaves its work to another one, and ends well, is no difference.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import CountedIn
from pytest_hookharness.model.processes import Exited, NotStarted, ProcessResult, Signaled
from pytest_hookharness.model.protocol import Json, Reply, Ruling

_VARIES = re.compile(rb"[0-9A-Fa-f]*[0-9][0-9A-Fa-f]*")
_COUNTER = re.compile(rb"\s*-?\d{1,18}\s*")
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class CounterReading:
    """
    What a file says about the hook runs that wrote to it.

    Attributes:
        amount: How many runs it counts; ``None`` if that cannot be read.
        number: The number that is all of it, where lines are counted; ``None`` if it holds anything else.
        torn: Why the file is not whole; empty if it is.
        shapes: Its lines with numbers replaced by 0, where lines are counted.
        half: Whether its last line has no line end.
    """

    amount: int | None
    torn: str = ""
    shapes: frozenset[bytes] = frozenset()
    half: bool = False
    number: int | None = None


def read_counter(data: bytes | None, counted: CountedIn) -> CounterReading:
    """Return what the content of a file says; a missing file counts 0."""
    if data is None:
        return CounterReading(0)
    if not counted.json:
        lines = data.splitlines()
        shapes = frozenset(_VARIES.sub(b"0", line) for line in lines)
        number = int(data) if _COUNTER.fullmatch(data) else None
        half = bool(data) and not data.endswith(b"\n")
        return CounterReading(len(lines), shapes=shapes, half=half, number=number)
    try:
        value: Json = json.loads(data)
    except (ValueError, RecursionError):
        return CounterReading(None, torn=f"it is no JSON: {_shown(data)}")
    return CounterReading(_amount(value, counted.json))


def _amount(value: Json, keys: str) -> int | None:
    for key in keys.split(".") if keys != "." else ():
        value = value.get(key) if isinstance(value, dict) else None
    match value:
        case bool() | None | str():
            return None
        case int() | float():
            return int(value)
        case _:
            return len(value)


def find_lost(alone: Sequence[CounterReading], together: CounterReading) -> str:
    """Return how many of the runs side by side are missing, such as ``5 instead of 8``; empty if none is."""
    if is_number(alone):
        amounts, left = {one.number for one in alone}, together.number
        # Without a number it is empty, or it holds several: then it counts nothing any more.
        left = 0 if left is None else left
    else:
        amounts, left = {one.amount for one in alone}, together.amount
    usual = next(iter(amounts))
    if len(amounts) > 1 or usual is None or left is None or left >= usual:
        return ""
    return f"{left} instead of {usual}"


def is_number(alone: Sequence[CounterReading]) -> bool:
    """Return whether a file whose lines would be counted holds one number each time, which counts then."""
    return all(one.number is not None for one in alone)


def find_torn(alone: Sequence[CounterReading], together: CounterReading) -> str:
    """Return what is torn; empty if the file is whole, or if that cannot be known."""
    if any(one.torn for one in alone):
        return ""
    if together.torn:
        return together.torn
    if together.half and not any(one.half for one in alone):
        return "its last line has no end"
    # Lines that differ in more than numbers between rounds cannot show that another line is torn.
    shapes = {one.shapes for one in alone}
    strange = sorted(together.shapes - next(iter(shapes))) if len(shapes) == 1 else []
    return f"no run on its own writes the line {_shown(strange[0])}" if strange else ""


def _shown(data: bytes) -> str:
    text = data[:_SHOWN].decode("utf-8", "backslashreplace")
    return repr(text) + ("..." if len(data) > _SHOWN else "")


_NUMBER = re.compile(rb"(?<![\w.])\d{1,12}(?![\w.])")
# How many digits a number has depends on the moment where it is a time: 1795424123.1 or 1795424123.125.
_DIGITS = re.compile(rb"\d+(?:\.\d+)?")
_COUNT, _LINES = "files that changed", "lines"


@dataclass(frozen=True, slots=True)
class Weights:
    """Results of hook runs in files: amounts by file and measure, and writes by file; "" stands for all."""

    amounts: Mapping[tuple[str, str], int]
    writes: Mapping[str, int]


def weigh(files: Mapping[str, bytes], writes: Mapping[str, int]) -> Weights:
    """Return the weights of some files, given the content and the number of writes of each."""
    amounts = {("", _COUNT): len(files)}
    for path, data in files.items():
        amounts |= {(path, measure): amount for measure, amount in _measures(data).items()}
    return Weights(amounts, {**writes, "": sum(writes.values())})


def _measures(data: bytes) -> dict[str, int]:
    return {
        _LINES: data.count(b"\n"),
        "the sum of the numbers": sum(map(int, _NUMBER.findall(data))),
        "bytes besides numbers": len(_DIGITS.sub(b"", data)),
    }


def lost_updates(alone: Sequence[Weights], together: Weights) -> Iterator[str]:
    """Yield what is less side by side than in every round one after the other, and was written as often."""
    writes = alone[0].writes
    for (path, measure), text in _less(alone, together):
        if 0 < writes.get(path, 0) <= together.writes.get(path, 0):
            yield f"{measure} in {text}" if path else f"{measure}: {text}"


def doubts(alone: Sequence[Weights], together: Weights) -> Iterator[str]:
    """Yield the files in which less is left and whose number of writes is not known."""
    for (path, _), _ in _less(alone, together):
        if path and not alone[0].writes.get(path, 0):
            yield path


def _less(alone: Sequence[Weights], together: Weights) -> Iterator[tuple[tuple[str, str], str]]:
    first, *others = alone
    # In a log with one line for each write, only the number of lines counts: a run may write another text.
    logs = {path for path, times in first.writes.items() if first.amounts.get((path, _LINES)) == times}
    for (path, measure), amount in first.amounts.items():
        if path in logs and measure != _LINES:
            continue
        left = together.amounts.get((path, measure), 0)
        if left < amount and all(other.amounts.get((path, measure)) == amount for other in others):
            counted = f"{left} instead of {amount}"
            yield (path, measure), f"{path}: {counted}" if path else counted


_LONGEST = 200
REFUSE = "refuse"
# The behaviour of a hook, by its command: that it refuses, or how its runs end.
EndingKey: TypeAlias = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RunEndings:
    """How often some hook runs refused or failed, and the last line of standard error of one of them."""

    times: Mapping[EndingKey, int]
    said: Mapping[EndingKey, str]


def count_endings(runs: Iterable[tuple[str, Reply, ProcessResult]]) -> RunEndings:
    """Count how hook runs ended; each comes with the command of its hook and its reply."""
    times: dict[EndingKey, int] = {}
    said: dict[EndingKey, str] = {}
    for command, reply, result in runs:
        if how := _describe(reply, result):
            key = command, how
            times[key] = times.get(key, 0) + 1
            lines = result.stderr.text.strip().splitlines()
            said.setdefault(key, lines[-1][:_LONGEST] if lines else "")
    return RunEndings(times, said)


def _describe(reply: Reply, result: ProcessResult) -> str:
    """Return what a run does besides ending well, as a verb of several; empty if it does nothing else."""
    if reply.ruling is Ruling.DENY:
        return REFUSE
    match result.own_ending:
        case Exited(code) if code:
            return f"end with exit code {code}"
        case Signaled(number):
            return f"are ended by signal {number}"
        case NotStarted():
            return "do not start"
        case _:
            return ""


def more_often(alone: Sequence[RunEndings], together: RunEndings) -> Iterator[tuple[EndingKey, str]]:
    """Yield what runs side by side do more often than in all rounds one after the other, with the words."""
    for key, times in together.times.items():
        usual = {one.times.get(key, 0) for one in alone}
        if len(usual) == 1 and times > max(usual):
            said = f' ("{together.said[key]}")' if together.said[key] and key[1] != REFUSE else ""
            yield key, f"{times} {key[1]}{said}, one after the other {max(usual)}"
