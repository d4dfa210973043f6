"""
Memory: all that the detectors keep of one agent's stream.

Pure. It is of fixed size, and the numbers in it do not grow beyond what is asked of
them, so that an agent in a loop brings the memory itself round in a loop.

Laps: whether the newest signs go round in a circle of some period.

Pure. For each period one number is kept: how many signs in a row were like the one
that stands a period before. A circle is closed when that number reaches all laps but the first. So a step
costs one comparison for each period, however long the stream is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from pytest_hookharness.judging.detectors.messages import MARK, Limits, with_text
from pytest_hookharness.judging.detectors.signatures import (
    ActionKind,
    ActionSignature,
    intended_calls,
    kind_of,
    signature_of,
)
from pytest_hookharness.model.actions import Action, ActionResult, DetectedLoop


@dataclass(frozen=True, slots=True)
class Repeats:
    """
    What is remembered of the newest signs.

    Attributes:
        recent: The newest signs, the newest last; as many as the longest period is long.
        runs: For each period from 1 how many signs in a row were like the one a period before.
    """

    recent: tuple[ActionSignature, ...] = ()
    runs: tuple[int, ...] = ()

    def follow(self, new: ActionSignature, limits: Limits) -> Repeats:
        """
        The same after one more sign.
        """
        longest = limits.longest
        return Repeats((*self.recent, new)[-longest:], self._runs(new.alike, longest))

    def _runs(self, alike: Callable[[ActionSignature], bool], longest: int) -> tuple[int, ...]:
        recent, runs = self.recent, self.runs
        known = len(recent)
        return tuple(
            [
                (runs[place] if place < len(runs) else 0) + 1 if alike(recent[known - 1 - place]) else 0
                for place in range(min(known, longest))
            ]
        )

    def foresee(self, deeds: frozenset[str], limits: Limits) -> int:
        """
        The period of the circle that a call would close, if it came out as before; 0 for none.
        """
        runs = self._runs(lambda old: old.deed in deeds, limits.longest)
        return _closed(runs, limits)

    def closed(self, limits: Limits) -> int:
        """
        The smallest period of a circle that is closed; 0 for none.
        """
        return _closed(self.runs, limits)


def _closed(runs: tuple[int, ...], limits: Limits) -> int:
    for period, run in enumerate(runs, 1):
        if run >= (limits.repetitions - 1) * period:
            return period
    return 0


@dataclass(frozen=True, slots=True)
class ErrorStreak:
    """
    Failures in a row that carry one error text.

    Attributes:
        error: Digest of the text; empty if the newest action did not fail so.
        count: How many.
        text: The text, as it was said last.
    """

    error: str = ""
    count: int = 0
    text: str = ""

    def follow(self, new: ActionSignature, text: str) -> ErrorStreak:
        """
        The same after one more action.
        """
        if not new.error:
            return ErrorStreak()
        return ErrorStreak(new.error, self.count + 1 if new.error == self.error else 1, text)


@dataclass(frozen=True, slots=True)
class Memory:
    """
    What the detectors know of one agent.

    Attributes:
        repetitions: The circles.
        streak: The failures.
    """

    repetitions: Repeats = Repeats()
    streak: ErrorStreak = ErrorStreak()

    def follow(self, action: Action, limits: Limits) -> Memory:
        """
        The same after one more action; waiting, or a refusal by the guard itself, begins everything anew.
        """
        if is_guard_refusal(action) or kind_of(action.tool, action.arguments) is ActionKind.WAIT:
            return Memory()
        new = signature_of(action)
        return Memory(
            self.repetitions.follow(new, limits), self.streak.follow(new, _first_words(action.result))
        )

    def found(self, limits: Limits) -> DetectedLoop | None:
        """
        The loop that the newest action closed, or went on with.
        """
        period = self.repetitions.closed(limits)
        if period:
            count = 1 + self.repetitions.runs[period - 1] // period
            return _circle(self.repetitions.recent[-period:], count, self._drifts(period))
        if self.streak.count >= limits.failures:
            lap = tuple(
                new.said for new in self.repetitions.recent[-min(self.streak.count, limits.failures) :]
            )
            return with_text(
                DetectedLoop(
                    name="failures",
                    period=0,
                    count=self.streak.count,
                    repetition=tuple(dict.fromkeys(lap)),
                    error=self.streak.text,
                )
            )
        return None

    def foresee(self, action: Action, limits: Limits) -> DetectedLoop | None:
        """
        The loop that a call would close or go on with, told before it is made.
        """
        kind = kind_of(action.tool, action.arguments)
        if kind is ActionKind.WAIT:
            return None
        deeds, said = intended_calls(action)
        period = self.repetitions.foresee(deeds, limits)
        if period:
            lap = (
                *self.repetitions.recent[len(self.repetitions.recent) - period + 1 :],
                ActionSignature("", said=said),
            )
            return _circle(lap, limits.repetitions, self.repetitions.recent[-period].said != said)
        # Whoever looks before going on does what the advice says.
        return None if kind is ActionKind.READ else self.found(limits)

    def _drifts(self, period: int) -> bool:
        # Of two laps only as much is known as is remembered.
        recent = self.repetitions.recent
        pairs = zip(recent[:-period], recent[period:], strict=True)
        return any(one.said != other.said for one, other in pairs)

    def bounded(self, limits: Limits) -> Memory:
        """
        The same with no number above the one that is asked for.
        """
        runs = tuple(
            min(run, limits.repetitions * period) for period, run in enumerate(self.repetitions.runs, 1)
        )
        streak = replace(self.streak, count=min(self.streak.count, limits.failures))
        return Memory(Repeats(self.repetitions.recent, runs), streak)


def is_guard_refusal(action: Action) -> bool:
    """
    Whether an action was refused by the guard that these detectors are.
    """
    return action.outcome in (ActionResult.REFUSED, ActionResult.FAILED) and MARK in action.result


def _circle(repetition: tuple[ActionSignature, ...], count: int, drifting: bool) -> DetectedLoop:
    period = len(repetition)
    return with_text(
        DetectedLoop(
            name="cycle" if period > 1 else "repetition",
            period=period,
            count=count,
            repetition=tuple(new.said for new in repetition),
            drifting=drifting,
        )
    )


def _first_words(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else line[:200] + "..."
