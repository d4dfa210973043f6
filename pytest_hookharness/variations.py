"""
This module is concerned with playing again: which variations a scenario is given, and what they show.

Upper floor. A difference counts only if the varied run shows it twice and the same run without it shows none,
so that hooks that decide by chance are not blamed for anything else.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from pytest_hookharness.alterations import Recording, alter, plainly, twins
from pytest_hookharness.judging.variance import find_first_failure, find_variance, join_findings
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.variations import Replayed, SameName
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.plans import Clues, plan

__all__ = ["Clues", "Varied", "vary"]

# Plays a scenario within some seconds.
Play = Callable[[Scenario, float], Outcome]
_SHOWN = 3
# A varied run may take this many times as long as the usual one, and some seconds.
_TIMES, _SPARE = 3.0, 5.0


@dataclass(frozen=True, slots=True)
class Varied:
    """
    What all variations of a scenario showed together.

    Attributes:
        findings: What is wrong with the hooks.
        notes: What was tried and what was not, in sentences.
    """

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def vary(base: Outcome, clues: Clues, play: Play, *, wall: float, patience: float) -> Varied:
    """
    Play a scenario again with one thing different at a time.

    Args:
        base: What a run of it showed.
        clues: What its hooks suggest to try.
        play: Plays a scenario.
        wall: Seconds for all of it.
        patience: Seconds after which a fire is cut.
    """
    if base.scenario.cover:
        return Varied(notes=("Nothing was varied: what is under `cover` belongs to the developer.",))
    variations, notes = plan(base, clues)
    series = _Series(base, play, longest=_TIMES * base.wall + patience + _SPARE)
    findings: list[Finding] = []
    until = time.monotonic() + wall
    left = variations
    while left and time.monotonic() < until:
        variation, *left = left
        finding = series.find(variation)
        findings += [finding] if finding is not None else []
    if any(wish.kind == "shells" for wish in base.scenario.vary):
        findings += series.find_first_failure()
    told = [f"It was played again with one thing different: {len(variations) - len(left)} variations."]
    if left:
        some = "; ".join(map(str, left[:_SHOWN]))
        told.append(f"There was no time for {len(left)} more variations: {some}.")
    return Varied(tuple(join_findings(findings)), (*told, *notes, *series.doubts))


class _Series:
    """
    Runs of one scenario with one thing different at a time.

    Attributes:
        doubts: Differences that were seen and prove nothing, in sentences.
    """

    def __init__(self, base: Outcome, play: Play, longest: float) -> None:
        self.doubts: list[str] = []
        self._base = base
        self._play = play
        self._longest = longest
        self._recording = Recording.of(base.trace)

    def find(self, variation: Replayed) -> Finding | None:
        """
        What is wrong with the hooks, if a variation shows that beyond doubt.
        """
        usual = self._usual(variation)
        finding = find_variance(variation, usual, self._varied(variation))
        if finding is None:
            return None
        steady = find_variance(variation, self._base.trace, self._unchanged) is None
        if not steady or find_variance(variation, usual, self._varied(variation)) is None:
            self.doubts.append(
                f"By chance or not, it went otherwise with {variation}; that was not seen twice."
            )
            return None
        return finding

    def find_first_failure(self) -> list[Finding]:
        """
        A hook that fails at its first fire only, each time that the scenario is played.
        """
        first = find_first_failure(self._base.trace)
        return [first] if first is not None and find_first_failure(self._unchanged) is not None else []

    def _usual(self, variation: Replayed) -> Trace:
        if isinstance(variation, SameName):
            return self._varied(twins(variation.turn, variation.file)[0])
        return self._base.trace

    def _varied(self, variation: Replayed) -> Trace:
        return self._run(alter(self._base.scenario, variation, self._recording))

    @cached_property
    def _unchanged(self) -> Trace:
        return self._run(plainly(self._base.scenario))

    def _run(self, scenario: Scenario) -> Trace:
        return self._play(scenario, self._longest).trace
