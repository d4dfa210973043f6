"""The detectors: what they find and miss, and what a long stream costs."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import streams
from measuring import Table, against, take_turns

from pytest_hookharness.judging.detectors.messages import LoopLimits
from pytest_hookharness.judging.detectors.signatures import ActionSignature, signature_of
from pytest_hookharness.judging.detectors.streams import Memory, Repeats, detect
from pytest_hookharness.model.actions import Action

SEEDS = 100
Item = TypeVar("Item", Action, ActionSignature)
LONG, SHORT = 1_000_000, 10_000
GROWTH = 1.15


@dataclass(frozen=True, slots=True)
class Score:
    """
    How often a detector was right about one title.

    Attributes:
        right: Streams that have such a loop, and it was reported.
        false: Streams that have none, and one was reported.
        missed: Streams that have one, and none was reported.
    """

    right: int
    false: int
    missed: int

    @property
    def precision(self) -> float:
        """The share of reported streams that have one."""
        return self.right / (self.right + self.false) if self.right + self.false else 1.0

    @property
    def recall(self) -> float:
        """The share of streams with one that were reported."""
        return self.right / (self.right + self.missed) if self.right + self.missed else 1.0


def scores(seeds: int) -> dict[str, Score]:
    """Return the score for every title that is a label or was reported."""
    right, false, missed = Counter[str](), Counter[str](), Counter[str]()
    for stream in streams.streams(seeds):
        reported = {loop.title for loop in detect(stream.moments)}
        right.update(reported & stream.labels)
        false.update(reported - stream.labels)
        missed.update(stream.labels - reported)
    titles = sorted({*right, *false, *missed})
    return {title: Score(right[title], false[title], missed[title]) for title in titles}


def table(_: Path, *, quick: bool) -> Table:
    """Count what the detectors find and miss in labelled streams."""
    seeds = 5 if quick else SEEDS
    number = seeds * (len(streams.NO_LOOP) + len(streams.LOOPS))
    shown = Table(
        f"detectors: {number} labelled streams", ("loop", "streams", "false", "missed", "precision", "recall")
    )
    for title, score in scores(seeds).items():
        counts = (str(score.right + score.missed), str(score.false), str(score.missed))
        shown.add(title, *counts, f"{score.precision:.2f}", f"{score.recall:.2f}")
    shown.notes.append(f"{seeds * len(streams.NO_LOOP)} of the streams hold no loop.")
    return shown


def costs(_: Path, *, quick: bool) -> Table:
    """Measure the time that the detectors take for each action of a stream."""
    long, rounds = (LONG // 50, 1) if quick else (LONG, 3)
    make = streams.Maker(1)
    actions = [make.any() for _ in range(SHORT // 10)]
    signs = [signature_of(action) for action in actions]
    turns: dict[str, Callable[[], Sequence[float]]] = {
        "plain": lambda: [_timed(_plain, signs, long)],
        "long": lambda: [_timed(_circles, signs, long)],
        "short": lambda: [_timed(_circles, signs, SHORT)],
        "signs": lambda: [_timed(_signs, actions, SHORT)],
        "all": lambda: [_timed(_all, actions, SHORT)],
    }
    took = take_turns(turns, rounds)
    shown = Table("detectors: time for each action of a stream", ("what", "time", "x", "of", "aim", ""))
    shown.add(f"reading {long:,} signs", _nano(took.median("plain")))
    shown.add(
        f"circles of period 1 to 8 in {long:,} signs",
        _nano(took.median("long")),
        took.ratio("long", "plain"),
        "reading",
    )
    growth = took.ratio("long", "short")
    shown.add(f"the same against {SHORT:,} signs", "", growth, "a short stream", *against(GROWTH, growth))
    shown.add(f"making signs of {SHORT:,} actions", _nano(took.median("signs")))
    shown.add(
        "signs, circles and failures",
        _nano(took.median("all")),
        took.ratio("all", "signs"),
        "making signs",
    )
    return shown


def _nano(seconds: float) -> str:
    return f"{seconds * 1e9:,.0f} ns"


def _timed(work: Callable[[Sequence[Item], int], None], items: Sequence[Item], number: int) -> float:
    began = time.perf_counter()
    work(items, number)
    return (time.perf_counter() - began) / number


def _plain(signs: Sequence[ActionSignature], number: int) -> None:
    last, alike = signs[-1], 0
    for place in range(number):
        new = signs[place % len(signs)]
        alike += new.alike(last)
        last = new


def _circles(signs: Sequence[ActionSignature], number: int) -> None:
    limits, repeats = LoopLimits(), Repeats()
    for place in range(number):
        repeats = repeats.follow(signs[place % len(signs)], limits)
        repeats.closed(limits)


def _signs(actions: Sequence[Action], number: int) -> None:
    for place in range(number):
        signature_of(actions[place % len(actions)])


def _all(actions: Sequence[Action], number: int) -> None:
    limits, memory = LoopLimits(), Memory()
    for place in range(number):
        memory = memory.follow(actions[place % len(actions)], limits)
        memory.found(limits)
