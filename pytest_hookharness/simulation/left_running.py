"""
Runs after which a process was left running, played again with processes that live longer.

The harness ends the processes that a hook or a command of the agent leaves running, so that only the state
decides. Hosts let them live. In one more run they get some seconds, as they would while a model answers; in
another run they live until the session ends. If that session ends differently, it is played again, and so is
the first one: a difference by chance says nothing about the process. Simulated turns follow each other at
once, so a loop may be played long before such work ends. The changes that the work makes later are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.outcome import LOOKED_FOR, Outcome
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import (
    Capped,
    Doubt,
    Livelock,
    OpenReason,
    Terminated,
    Undecided,
    verdict_name,
)
from pytest_hookharness.simulation.testbed.run_settings import Settings

# Seconds that such a process gets, as while a model answers, and turns that are played after the first one.
_LINGER, _TURNS_LATER = 5.0, 3
# Seconds for further runs, however little is left of the budget.
_LEAST = 3.0

# Commands that never end by themselves: servers, and programs that watch files.
_SERVES = re.compile(
    r"\btail -\w*[fF]|\b(?:serve|server|dev|watch|start|listen|http\.server|vite|nodemon|daemon)\b"
    r"|--watch|\b(?:uvicorn|gunicorn)\b|\b(?:redis|postgres|inotifywait|fswatch)"
)
_SLEEPS = re.compile(r"(?:\S*/)?sleep [\d.]+[smhd]?$")

_IN_BACKGROUND: OpenReason = "hook in the background"

# Plays the same scenario until the host ends it; nothing if the time ended before.
Replay = Callable[[Settings], Outcome | None]


@dataclass(frozen=True, slots=True)
class _Left:
    """
    A process that was left running, or a hook in the background that the harness ended.

    Attributes:
        what: Its command, who left it running, and how it was ended, in words.
        reason: What it is, for the advice on the verdict.
        will_end: Whether it is assumed to end by itself. If a hook leaves a process running, this holds only
            for `sleep`: others are assumed to be servers, which change nothing by themselves. It holds for
            commands of the agent and hooks in the background, unless they look like a server.
    """

    turn: int
    what: str
    reason: OpenReason
    will_end: bool

    def doubt(self, seen: str) -> Doubt:
        """Return the doubt that follows from what was seen of it."""
        return Doubt(self.what + seen, frozenset([self.reason]))


class _NoTime(Exception):
    """The time ended before a further run did."""


def find_difference(
    outcome: Outcome, settings: Settings, replay: Replay, clock: Callable[[], float]
) -> Doubt | None:
    """
    Return why a verdict does not hold if what was left running lives on; ``None`` if none is known.

    The settings limit all further runs together; the clock measures their time.
    """
    ended = isinstance(outcome.verdict, Terminated)
    # A host does not wait for a hook in the background; the session that ended did not wait either.
    left = next(
        (one for one in _left_running(outcome.trace) if not (ended and one.reason == _IN_BACKGROUND)), None
    )
    # Fake agents have their own rule for what hooks leave running.
    decided = isinstance(outcome.verdict, Terminated | Livelock | Capped) and not outcome.scenario.fake_agents
    if left is None or not decided:
        return None
    began, given = clock(), max(_LEAST, settings.wall)

    def play(linger: float | None, turns: int) -> Outcome:
        rest = given - (clock() - began)
        played = replay(replace(settings, wall=rest, turns=turns, linger=linger))
        if played is None:
            raise _NoTime
        return played

    try:
        if found := _find_other_end(outcome, play, settings.turns or outcome.iterations):
            return left.doubt(f"; if it stays alive, {found}")
    except _NoTime:
        return left.doubt(", and no time was left to play the session with it alive")
    if ended:
        return None
    try:
        longer = play(_LINGER, left.turn + _TURNS_LATER)
    except _NoTime:
        return None
    if isinstance(longer.verdict, Terminated):
        return left.doubt(f"; if it may run for {_LINGER:g} s more, {_describe(longer)}")
    # A hook that looks for no missing file does not wait for such work.
    waits = any(LOOKED_FOR in one for one in outcome.assumptions)
    if waits and (working := next((one for one in _left_running(longer.trace) if one.will_end), None)):
        return working.doubt("; with more time it still ran, and what it changes at its end is unknown")
    return None


def _find_other_end(outcome: Outcome, play: Callable[[float | None, int], Outcome], turns: int) -> str:
    """Return how the run ends if all that is left running stays alive; empty if equally, or by chance."""
    living = play(None, turns)
    if _end(living) == _end(outcome):
        return ""
    # Either run may be the longer one.
    enough = turns if _end(living) is None else max(living.iterations, outcome.iterations) + 1
    if _end(play(0.0, enough)) != _end(outcome) or _end(play(None, turns)) != _end(living):
        return ""
    return _describe(living)


def _end(outcome: Outcome) -> tuple[str, int] | None:
    """Return how and in which turn a session ended; ``None`` if the hooks did not allow the stop."""
    match outcome.verdict:
        case Livelock() | Capped():
            return None
        case Undecided(reasons=reasons) if "turns" in reasons:
            return None
        case verdict:
            return verdict_name(verdict), verdict.turn


def _describe(outcome: Outcome) -> str:
    end = _end(outcome)
    if end is None:
        return f"the hooks did not allow the stop in {outcome.iterations} turns"
    name, turn = end
    why = f": {outcome.verdict.why}" if isinstance(outcome.verdict, Undecided) else ""
    return f"the session ends in turn {turn}" if name == "terminated" else f"it is {name} in turn {turn}{why}"


def describe_left(trace: Trace) -> str:
    """Return, in words, the first process that was left running and how it was ended; empty for none."""
    return next((one.what for one in _left_running(trace)), "")


def _left_running(trace: Trace) -> Iterator[_Left]:
    for step, call in trace.performed():
        for process in call.run.leftovers if call.run is not None else ():
            what = f"`{process.command}`, which the agent's command left running, was ended with it"
            will_end = not _SERVES.search(process.command)
            yield _Left(step.turn, what, "process of a command", will_end=will_end)
    for step, hook_run in trace.hook_runs():
        for process in hook_run.run.leftovers if hook_run.run is not None else ():
            what = f"`{process.command}`, which a hook left running, was ended with the hook run"
            yield _Left(step.turn, what, "process of a hook", will_end=bool(_SLEEPS.match(process.command)))
        if hook_run.run is not None and hook_run.run.cut_in_background:
            what = f"`{hook_run.hook.command}`, which runs in the background, was ended before its time"
            works = not _SERVES.search(hook_run.hook.command)
            yield _Left(step.turn, what, _IN_BACKGROUND, will_end=works)
