"""Limits of the harness in a check: the time of a session, errors of its own, and hook runs that it cut."""

from __future__ import annotations

import time
import traceback
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.execution.exhaustion import Exhausted
from pytest_hookharness.execution.processes.sandbox import ExecutionError
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import TimedOut
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.time_budget import BudgetEnded, limited_to
from pytest_hookharness.simulation.conclude import conclude_event
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.session.single_event import run_event
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError, TrialSelection

Value = TypeVar("Value")

# Errors that say what a person can do; any other is a defect of the harness.
_KNOWN = (SimulationError, WorkspaceError, ExecutionError, Exhausted, SlowPattern, BudgetEnded)
# The shortest hook timeout after a hook was cut, and how many times longer than so far other hooks may take.
_SHORTEST, _SLACK = 2.0, 5.0


def is_defect(error: Exception) -> bool:
    """Return whether an error is a defect of the harness."""
    return not isinstance(error, _KNOWN)


def describe_error(error: Exception) -> str:
    """Return the message of an error, and for a defect of the harness where it occurred."""
    if not is_defect(error):
        return str(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"an error of hookharness, which please report: {type(error).__name__}: {error} ({place})"


def gather(*parts: Iterator[Value]) -> tuple[list[Value], list[str]]:
    """Return what all parts yield, each up to its error if it raises one, and a sentence for each error."""
    found: list[Value] = []
    errors: list[str] = []
    for part in parts:
        try:
            found.extend(part)
        except Exception as error:  # noqa: BLE001 -- what the other parts yield must not be lost
            errors.append(f"A part of the check ended early: {describe_error(error)}.")
    return found, errors


def patience(outcome: Outcome, hook_timeout: float) -> float:
    """Return a hook timeout that only cuts the hooks that were cut in an outcome."""
    ended = [
        run.run.wall
        for _, run in outcome.trace.hook_runs()
        if run.run is not None and not isinstance(run.ending, TimedOut)
    ]
    return min(hook_timeout, max(_SHORTEST, _SLACK * max(ended, default=0.0)))


def play_session(
    session: CheckSession, settings: Settings, resources: Resources, observer: Observer | None = None
) -> Outcome:
    """
    Play a session, and return its outcome.

    The budget of a check is real time, and the clock of a session stands still while it waits for a
    processor; so the session is limited by both.
    """
    choice = TrialSelection(only=session.only) if session.only else None
    # A loop that was started shows itself by many refusals; to prove that it has no end takes longer. A check
    # reports nothing about the pace of an agent.
    probes = settings.probes and session.ends and not session.active
    settings = replace(settings, keep=False, choice=choice, probes=probes, paces=False)
    with limited_to(settings.wall):
        if not session.event:
            return simulate(session.scenario, settings, resources, observer=observer)
        with resources.open(session.scenario, settings) as (testbed, _):
            # The host keeps the session of each event, in a folder where hooks may write, too.
            testbed.write_transcript(testbed.facts.transcript_path, ())
            return conclude_event(testbed, run_event(testbed, session.event, session.fields).hooked)


def play_timed(session: CheckSession, settings: Settings, resources: Resources) -> tuple[Outcome, float]:
    """Play a session; return its outcome and the seconds that it took."""
    began = time.monotonic()
    outcome = play_session(session, settings, resources)
    return outcome, time.monotonic() - began
