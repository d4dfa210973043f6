"""
Drives: one scenario played with other times between its turns.

Time is not waited for: all that was written becomes older.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_hookharness.judging.findings import finding_catalogue
from pytest_hookharness.judging.state_diff import SessionClock, find_timestamps
from pytest_hookharness.judging.verdict.run_end import format_duration
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Capped, Finding, Livelock, Terminated
from pytest_hookharness.simulation.session.checkpoint import CheckpointEditor
from pytest_hookharness.simulation.session.history import Files, History

# Seconds between two turns of an agent that is slow, or left alone.
SLOW = 3600.0
_MOMENT = 1.0
_MOST_DRIVES = 14


class TimeShift:
    """
    Time that passes by everything becoming older, for hooks that read the machine's clock.
    """

    def __init__(self, history: History, backstage: CheckpointEditor) -> None:
        self._history = history
        self._backstage = backstage
        self._started = backstage.now
        self._turn = 0
        self._passed = 0.0

    @property
    def stamped(self) -> bool:
        """
        Whether something that was written holds a time of this run.
        """
        return bool(find_timestamps(self._written, self._clock).parts)

    def let_pass(self, seconds: float) -> None:
        """
        Let time pass.
        """
        # What is known of the contents is as old as the last turn, after which time may pass several times.
        newest = max(self._history.states, default=0)
        self._passed = seconds + (self._passed if newest == self._turn else 0.0)
        self._turn = newest
        self._backstage.write(find_timestamps(self._written, self._clock).aged(self._passed))
        self._backstage.age(seconds)
        self._started -= seconds

    @property
    def _written(self) -> Files:
        return self._history.written(max(self._history.states, default=0))

    @property
    def _clock(self) -> SessionClock:
        return SessionClock(started=self._started, now=self._backstage.now)


def find_doubt(moved: Outcome, aged: Outcome) -> str:
    """
    Why nothing follows from a run whose clock was moved, if all going older instead makes another of it.

    Neither way is complete: some clocks cannot be moved, and some stored times are names. But a hook that
    sees through one of them is not deceived by the other in the same way.
    """
    if not _differ(moved, aged) and _agree(_decided(moved), _decided(aged)):
        return ""
    return (
        f"with a clock that is put ahead it {_words(moved)}, and with all that is stored made older it "
        f"{_words(aged)}: the hooks read a clock that cannot be moved, or take stored times for names"
    )


def _decided(outcome: Outcome) -> list[tuple[int, str, bool]]:
    return [(step.turn, hooked.event, hooked.decision.refused) for step, hooked in outcome.trace.hooked()]


def _agree(one: list[tuple[int, str, bool]], other: list[tuple[int, str, bool]]) -> bool:
    # How long a loop is looked at says nothing.
    shared = min(len(one), len(other))
    return one[:shared] == other[:shared]


def compare(fast: Outcome, play: Callable[[float], Outcome]) -> Finding | None:
    """
    The finding that the hooks decide by the clock, if a slow agent meets other decisions than a fast one.

    Args:
        fast: What a run showed whose turns follow at once.
        play: Plays the same with some seconds between the turns.
    """
    slow = play(SLOW)
    # If the least time makes a difference, stored times are names to the hooks, which ageing spoils.
    if not _differ(fast, slow) or _differ(fast, play(_MOMENT)):
        return None
    low, high = _MOMENT, SLOW
    for _ in range(_MOST_DRIVES):
        if high - low <= max(1.0, 0.05 * high):
            break
        middle = (low * high) ** 0.5 if high > 60 else (low + high) / 2
        between = play(middle)
        if _differ(fast, between):
            high, slow = middle, between
        else:
            low = middle
    text = (
        f"With turns that follow at once it {_words(fast)}; "
        f"with {format_duration(high)} between them, it {_words(slow)}."
    )
    return finding_catalogue.CLOCK.found(text)


def _differ(fast: Outcome, slow: Outcome) -> bool:
    # How a run that does not let go is ended (a guard, a budget) says nothing of the clock.
    ended, ends = isinstance(fast.verdict, Terminated), isinstance(slow.verdict, Terminated)
    return ended != ends or (ended and fast.iterations != slow.iterations)


def _words(outcome: Outcome) -> str:
    match outcome.verdict:
        case Terminated():
            return f"lets go in turn {outcome.iterations}"
        case Capped():
            return f"is ended by the host's guard in turn {outcome.iterations}"
        case Livelock():
            return "never lets go"
        case _:
            return f"has not let go after turn {outcome.iterations}"
