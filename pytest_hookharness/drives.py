"""
This module is concerned with drives: one scenario played with other times between its turns.

Upper floor, above the history. Time is not waited for: all that was written becomes older before a move.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from pytest_hookharness.history import History
from pytest_hookharness.judging import codes
from pytest_hookharness.judging.durations import duration
from pytest_hookharness.judging.parting import Clock, find_stamps
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Capped, Finding, Livelock, Terminated
from pytest_hookharness.rehearsal import Backstage

# Seconds between two turns of an agent that is slow, or left alone.
SLOW = 3600.0
_MOMENT = 1.0
_MOST_DRIVES = 14


class Pace:
    """
    The time that passes between the turns of one run.
    """

    def __init__(self, seconds: float, history: History, backstage: Backstage) -> None:
        self._seconds = seconds
        self._history = history
        self._backstage = backstage
        self._started = time.time()

    @property
    def stamped(self) -> bool:
        """
        Whether something that was written holds a time of this run.
        """
        newest = max(self._history.states, default=0)
        return bool(find_stamps(self._history.written(newest), self._clock).parts)

    def let_pass(self, turn: int) -> None:
        """
        Let the time between two turns pass, after the given one.
        """
        if not self._seconds or not turn:
            return
        self._backstage.write(find_stamps(self._history.written(turn), self._clock).aged(self._seconds))
        self._backstage.age(self._seconds)
        self._started -= self._seconds

    @property
    def _clock(self) -> Clock:
        return Clock(started=self._started, now=time.time())


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
    code = codes.CLOCK
    text = (
        f"With turns that follow at once it {_words(fast)}; "
        f"with {duration(high)} between them, it {_words(slow)}."
    )
    return Finding(code=code.code, name=code.name, text=text, advice=code.mend)


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
