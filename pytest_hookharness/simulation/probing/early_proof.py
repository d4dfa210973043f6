"""
Early proofs: an observed repetition that is also the one which confirms the recurrence.

Two turns that are alike propose a cycle; a third one confirms it, and then one more is observed. Where hooks
seem only to log, the third is observed at once. If that proves nothing the run goes on as any other.

A real third turn may show more than the proof: a limit of the host, what the scenario counts, or a loop in
the calls of the agent itself. There is no early proof then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Stop
from pytest_hookharness.model.trace import Moved, Step
from pytest_hookharness.simulation.probing.probed_run import ProbedRun
from pytest_hookharness.simulation.session.history import History

# Later ones are compared with more than one turn.
_SECOND = 2


def seems_to_log(run: ProbedRun, last_turn: Callable[[int], int | None]) -> bool:
    """
    Return whether the first two turns differ only in logs, and a third would show nothing more.

    ``last_turn`` returns the turn in which the host would end a loop of a period; ``None`` if it would not.
    """
    if run.driver.turn != _SECOND or not _only_appends(run.history):
        return False
    return _shows_all(run.driver.steps_after(_SECOND - 1), run.testbed.scenario.expect, last_turn(1))


def _shows_all(steps: Iterable[Step], expect: Expectation, last_turn: int | None) -> bool:
    counted = expect.blocks or expect.hook_runs or expect.decisions or expect.detectors
    moves = [step.exchange.move for step in steps if isinstance(step.exchange, Moved)]
    ends_next = last_turn is not None and last_turn <= _SECOND + 1
    return not counted and not ends_next and all(isinstance(move, Stop) for move in moves)


def _only_appends(history: History) -> bool:
    changed = history.differing(_SECOND, 1)
    before, after = history.written(_SECOND - 1), history.written(_SECOND)
    for change in changed:
        old, new = before.get(change.path), after.get(change.path)
        if change.how != "content" or old is None or new is None or not new.startswith(old):
            return False
    signature = history.signature(_SECOND) if changed else None
    return signature is not None and signature == history.signature(_SECOND - 1)
