"""
This module is concerned with trials: faults, tried one after the other, and how the hooks took them.

Upper floor. What is no defect is seen once; a defect counts only if it is seen twice, of a hook that did the
same in two runs without any fault.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pytest_hookharness.execution.workspace import WorkspaceError
from pytest_hookharness.faults import make_trial, with_fault
from pytest_hookharness.judging.bearings import Sight, find_bearings
from pytest_hookharness.model.faults import Cell, Fault, Surroundings
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.settings import SimulationError

_NO_DENIAL = (
    "No payload was refused without a fault, so nothing shows whether a guard still guards with one; "
    "add a call that it must refuse, with `expect: deny`."
)


@dataclass(frozen=True, slots=True)
class Trials:
    """
    What trying faults has shown.

    Attributes:
        sights: How each hook took each fault.
        untried: What was not tried, or proved nothing.
        notes: What is to be said of all of it, in sentences.
    """

    sights: tuple[Sight, ...] = ()
    untried: tuple[Cell, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[Cell, ...]:
        """
        The whole table.
        """
        return (*(sight.cell for sight in self.sights), *self.untried)


def try_faults(
    base: Outcome, faults: Sequence[Fault], play: Callable[[Scenario], Trace], remaining: Callable[[], float]
) -> Trials:
    """
    Play a scenario with one fault at a time.

    Args:
        base: What a run without any fault showed.
        faults: What is to be tried.
        play: Plays a scenario.
        remaining: Seconds that are left for all of it.
    """
    if not faults:
        return Trials()
    series = _Series(base, play)
    sights: list[Sight] = []
    untried: list[Cell] = []
    for fault in faults:
        if not remaining():
            untried.append(_untried(fault, "there was no time left"))
            continue
        try:
            seen, doubted = series.find(fault)
        except (WorkspaceError, SimulationError) as error:
            untried.append(_untried(fault, str(error)))
            continue
        sights += seen
        untried += doubted if seen or doubted else [_untried(fault, "no hook was asked that is without it")]
    notes = [f"{len({sight.cell.fault for sight in sights})} of {len(faults)} faults were tried."]
    if not any(sight.cell.payload == "deny" for sight in sights):
        notes.append(_NO_DENIAL)
    return Trials(tuple(sights), tuple(untried), tuple(notes))


def _untried(fault: Fault, why: str) -> Cell:
    return Cell(cause=fault.cause, fault=str(fault), verdict="not tried", evidence=why)


class _Series:
    """
    Runs with the same moves, without a fault and with one.
    """

    def __init__(self, base: Outcome, play: Callable[[Scenario], Trace]) -> None:
        self._play = play
        self._directions = base.scenario.on_failure
        self._trial = make_trial(base.scenario, base.trace)
        self._usual = play(self._trial)
        self._again = play(self._trial)

    def find(self, fault: Fault) -> tuple[list[Sight], list[Cell]]:
        """
        How the hooks took a fault, and what of that was seen once only.
        """
        usual = self._without(fault)
        first = self._look(fault, usual)
        if all(sight.code is None for sight in first):
            return [*first], []
        unsteady = {
            sight.cell.hook
            for sight in find_bearings(fault, {}, self._usual, self._again)
            if sight.cell.verdict != "as declared"
        }
        second = {
            (sight.cell.hook, sight.cell.payload): sight.cell.verdict for sight in self._look(fault, usual)
        }
        sights: list[Sight] = []
        doubted: list[Cell] = []
        for sight in first:
            cell = sight.cell
            same = second.get((cell.hook, cell.payload)) == cell.verdict and cell.hook not in unsteady
            if sight.code is None or same:
                sights.append(sight)
            else:
                why = f"perhaps by chance, once {cell.verdict}: {cell.evidence}"
                doubted.append(replace(cell, verdict="not tried", evidence=why))
        return sights, doubted

    def _look(self, fault: Fault, usual: Trace) -> tuple[Sight, ...]:
        faulty = self._play(with_fault(self._trial, fault))
        return find_bearings(fault, self._directions, usual, faulty)

    def _without(self, fault: Fault) -> Trace:
        """
        The run without a fault, but with the input that it takes to show.
        """
        change = fault.change
        if not isinstance(change, Surroundings) or not change.extra:
            return self._usual
        alone = replace(fault, change=replace(change, env={}, files={}))
        return self._play(with_fault(self._trial, alone))
