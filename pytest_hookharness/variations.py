"""
This module is concerned with playing again: which variations a scenario is given, and what they show.

Upper floor. A difference counts only if the varied run shows it twice and the same run without it shows none,
so that hooks that decide by chance are not blamed for anything else.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import cached_property
from typing import Protocol

from pytest_hookharness import agents
from pytest_hookharness.alterations import Recording, alter, plainly, twins
from pytest_hookharness.crowds import find_losses
from pytest_hookharness.execution.workspace import WorkspaceError
from pytest_hookharness.fault_plans import plan_faults
from pytest_hookharness.judging.bearings import join_sights
from pytest_hookharness.judging.promises import with_findings
from pytest_hookharness.judging.purposes import find_purpose
from pytest_hookharness.judging.tried import tried_words
from pytest_hookharness.judging.variance import find_first_failure, find_variance, join_findings
from pytest_hookharness.model.faults import Cell
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.variations import (
    FailingTool,
    HangingTool,
    Replayed,
    SameName,
    Variation,
    Wide,
    WithoutTool,
)
from pytest_hookharness.model.verdicts import Finding, Violation
from pytest_hookharness.plans import Clues, plan
from pytest_hookharness.settings import Settings
from pytest_hookharness.stage import Stage
from pytest_hookharness.trials import try_faults

# A varied run may take this many times as long as the usual one, a fire that hangs, and some seconds.
_TIMES, _SPARE = 3.0, 5.0


class Theatre(Protocol):
    """
    Where scenarios are played.
    """

    def open(
        self, scenario: Scenario, settings: Settings
    ) -> AbstractContextManager[tuple[Stage, agents.Agent]]:
        """
        Set the stage for a scenario, and have its agent wait.
        """
        ...

    def play(self, scenario: Scenario, settings: Settings) -> tuple[Outcome, bool]:
        """
        Play a scenario to its end.
        """
        ...


def vary(base: Outcome, clues: Clues, theatre: Theatre, settings: Settings) -> Outcome:
    """
    Play a scenario again with one thing different at a time, and add what that showed to its outcome.

    Args:
        base: What a run of it showed.
        clues: What its hooks suggest to try.
        theatre: Where it is played.
        settings: The settings of further runs; all of them together may take ``wall`` seconds.
    """
    if base.scenario.cover:
        return replace(base, varied=("Nothing: what is under `cover` belongs to the developer.",))
    variations, notes = plan(base, clues)
    series = _Series(base, theatre, settings)
    found: list[tuple[Replayed, Finding]] = []
    others: list[Finding] = []
    tried: list[Variation] = []
    for variation in itertools.takewhile(lambda _: series.remaining(), variations):
        match variation:
            case Wide():
                seen = series.crowd(variation)
                others += seen
            case _:
                seen = series.find(variation)
                found += [(variation, finding) for finding in seen]
        # Where the time ran out on the way, what was seen counts, and that nothing was seen does not.
        if seen or series.remaining():
            tried.append(variation)
    if any(wish.kind == "shells" for wish in base.scenario.vary):
        others += series.find_first_failure()
    faults, untried = plan_faults(base, clues)
    trials = try_faults(base, faults, series.run, series.remaining)
    outcome = with_findings(base, (*join_findings(found), *others, *join_sights(trials.sights)))
    broken = _untried(outcome, len(variations) - len(tried), len(variations))
    made = [variation for variation in tried if variation not in series.impossible]
    cells = (*trials.cells, *untried)
    told = (*_told(made, variations[len(tried) :]), *notes, *series.doubts, *trials.notes, *_left_out(cells))
    return replace(outcome, varied=told, cells=cells, violations=(*outcome.violations, *broken))


def _left_out(cells: Sequence[Cell]) -> Iterator[str]:
    for cell in cells:
        if cell.verdict == "not tried":
            yield f"Not tried ({cell.cause}): {cell.fault}: {cell.evidence}."


def _told(tried: Sequence[Variation], left: Sequence[Variation]) -> Iterator[str]:
    if not tried and not left:
        return
    conditions = "1 other condition" if len(tried) == 1 else f"{len(tried)} other conditions"
    yield f"It was played again under {conditions}, one at a time."
    if tried:
        yield f"Tried: {tried_words(tried)}."
    if left:
        yield f"There was no time for {tried_words(left)}."


def _untried(outcome: Outcome, left: int, planned: int) -> Iterator[Violation]:
    # Who expects that nothing can be told has not been promised more.
    if left and outcome.scenario.expect.verdict != "undecided":
        yield Violation(
            path=outcome.scenario.mark("vary"),
            expected="all conditions tried",
            seen=f"{left} of {planned} were not tried, for lack of time; give --hook-budget more",
        )


def _purposes(variation: Replayed, usual: Trace, varied: Trace) -> Iterator[str]:
    match variation:
        case WithoutTool() | FailingTool() | HangingTool():
            changed = find_purpose(variation, usual, varied)
        case _:
            return
    if changed is not None:
        pair, words = changed
        event = f"{pair.before.event} in turn {pair.turn}"
        yield f'It goes otherwise on purpose with {variation}, at {event}, where {pair.hook} says "{words}".'


class _Series:
    """
    Runs of one scenario with one thing different at a time.

    Attributes:
        doubts: What could not be played, and differences that prove nothing, in sentences.
        impossible: The variations that could not be played.
    """

    def __init__(self, base: Outcome, theatre: Theatre, settings: Settings) -> None:
        self.doubts: list[str] = []
        self.impossible: list[Variation] = []
        self._base = base
        self._theatre = theatre
        self._settings = settings
        self._until = time.monotonic() + settings.wall
        self._recording = Recording.of(base.trace)

    def remaining(self) -> float:
        """
        Seconds that are left for all of it.
        """
        return max(0.0, self._until - time.monotonic())

    def crowd(self, variation: Wide) -> Sequence[Finding]:
        """
        What a crowd of fires loses.
        """
        with self._theatre.open(plainly(self._base.scenario), self._settings) as (stage, agent):
            losses = find_losses(stage, agent, variation, self.remaining)
        self.doubts += losses.notes
        return losses.findings

    def find(self, variation: Replayed) -> Sequence[Finding]:
        """
        What is wrong with the hooks, if a variation shows that beyond doubt.
        """
        try:
            return self._compare(variation)
        except WorkspaceError as error:
            self.impossible.append(variation)
            self.doubts.append(f"It could not be played with {variation}: {error}.")
            return ()

    def _compare(self, variation: Replayed) -> Sequence[Finding]:
        usual = self._usual(variation)
        varied = self._varied(variation)
        finding = find_variance(variation, usual, varied)
        if finding is None:
            self.doubts += _purposes(variation, usual, varied)
            return ()
        steady = all(find_variance(variation, self._base.trace, other) is None for other in self._unchanged)
        if not steady or find_variance(variation, usual, self._varied(variation)) is None:
            why = "perhaps by chance" if self.remaining() else "and the time ran out before it was seen twice"
            self.doubts.append(f"It went otherwise once, {why}, with {variation}.")
            return ()
        return (finding,)

    def find_first_failure(self) -> Sequence[Finding]:
        """
        A hook that fails at its first fire only, each time that the scenario is played.
        """
        first = find_first_failure(self._base.trace)
        return (first,) if first is not None and all(map(find_first_failure, self._unchanged)) else ()

    def _usual(self, variation: Replayed) -> Trace:
        if isinstance(variation, SameName):
            return self._varied(twins(variation.turn, variation.file)[0])
        return self._base.trace

    def _varied(self, variation: Replayed) -> Trace:
        return self.run(alter(self._base.scenario, variation, self._recording))

    @cached_property
    def _unchanged(self) -> Sequence[Trace]:
        # Twice, because a hook that throws a coin does the same again every other time.
        return [self.run(plainly(self._base.scenario)) for _ in range(2)]

    def run(self, scenario: Scenario) -> Trace:
        """
        What takes place when a scenario is played.
        """
        own = scenario.patience
        patience = self._settings.patience if own is None else own
        wall = min(self.remaining(), _TIMES * self._base.wall + patience + _SPARE)
        return self._theatre.play(scenario, replace(self._settings, wall=wall))[0].trace
