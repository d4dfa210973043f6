"""A loop in which a hook left a process running, played again with more time for that process."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Capped, Livelock, Terminated
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Seconds that such a process gets, as while a model answers, and turns that are played after the first one.
_LINGER, _TURNS_LATER = 5.0, 3


def settings_of_second_run(outcome: Outcome, settings: Settings) -> Settings | None:
    """Return the settings for the second run; ``None`` if it would show nothing."""
    left = _first_left(outcome)
    if left is None or not isinstance(outcome.verdict, Livelock | Capped):
        return None
    return replace(settings, turns=left[0] + _TURNS_LATER, linger=_LINGER)


def find_end(outcome: Outcome, second: Outcome) -> str:
    """Return that the loop ends in the second run, in words; empty if it does not."""
    left = _first_left(outcome)
    if left is None or not isinstance(second.verdict, Terminated):
        return ""
    return (
        f"`{left[1]}`, which a hook left running, was ended with the hook run; if it may run for "
        f"{_LINGER:g} s more, the hooks allow the stop in turn {second.verdict.turn}"
    )


def _first_left(outcome: Outcome) -> tuple[int, str] | None:
    """Return the turn and the command of the first process that a hook left running."""
    for step, hook_run in outcome.trace.hook_runs():
        if hook_run.run is not None and hook_run.run.leftovers:
            return step.turn, hook_run.run.leftovers[0].command
    return None
