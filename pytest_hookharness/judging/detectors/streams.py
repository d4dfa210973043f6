"""
Loops in streams of actions: the memory for one agent's stream, and all loops of a whole stream.

The memory has a fixed size, and its numbers do not grow beyond the limits. Therefore an agent in a loop
brings the memory itself back to the same state, and a stored memory does not hide a livelock.

For each period one number is stored: how many signatures in a row were equal to the one a period earlier. A
cycle is closed when that number covers all repetitions but the first, so each action costs one comparison per
period.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence

from pytest_hookharness.judging.detectors.messages import MARK, LoopLimits, with_text
from pytest_hookharness.judging.detectors.signatures import (
    ActionKind,
    ActionSignature,
    intended_calls,
    joined_signature,
    kind_of,
    signature_of,
)
from pytest_hookharness.model.actions import Action, ActionResult, DetectedLoop, StreamItem
from pytest_hookharness.model.fast_dataclass import dataclass, replace


@dataclass(frozen=True, slots=True)
class Repeats:
    """
    The newest signatures.

    Attributes:
        recent: The newest signatures, newest last; as many as the longest period.
        runs: For each period from 1, how many signatures in a row were equal to the one a period earlier.
    """

    recent: tuple[ActionSignature, ...] = ()
    runs: tuple[int, ...] = ()

    def follow(self, new: ActionSignature, limits: LoopLimits) -> Repeats:
        """Return the memory after one more signature."""
        recent, longest = self.recent, limits.longest
        if new.call in [old.call for old in recent]:
            runs = self._runs(new.alike, longest)
        else:  # as most are, so it is looked for first
            runs = (0,) * min(len(recent), longest)
        return Repeats((*recent, new)[-longest:], runs)

    def _runs(self, alike: Callable[[ActionSignature], bool], longest: int) -> tuple[int, ...]:
        recent, runs = self.recent, self.runs
        known = len(recent)
        return tuple(
            [
                (runs[place] if place < len(runs) else 0) + 1 if alike(recent[known - 1 - place]) else 0
                for place in range(min(known, longest))
            ]
        )

    def foresee(self, calls: frozenset[str], limits: LoopLimits) -> int:
        """Return the period of the cycle that a call would close with the result of before; 0 for none."""
        runs = self._runs(lambda old: old.call in calls, limits.longest)
        return _closed(runs, limits)

    def closed(self, limits: LoopLimits) -> int:
        """Return the smallest period of a closed cycle; 0 for none."""
        return _closed(self.runs, limits)


def _closed(runs: tuple[int, ...], limits: LoopLimits) -> int:
    if not any(runs):
        return 0
    # The first repetition has nothing to be equal to, so one repetition fewer is enough.
    for period, run in enumerate(runs, 1):
        if run >= (limits.repetitions - 1) * period:
            return period
    return 0


@dataclass(frozen=True, slots=True)
class ErrorStreak:
    """Failures in a row with one error text: its digest, and the newest text; empty if there is none."""

    error: str = ""
    count: int = 0
    text: str = ""

    def follow(self, new: ActionSignature, result: str) -> ErrorStreak:
        """Return the streak after one more action with its result."""
        if not new.error:
            return _NO_STREAK
        count = self.count + 1 if new.error == self.error else 1
        return ErrorStreak(new.error, count, _first_words(result))


_NO_STREAK = ErrorStreak()


@dataclass(frozen=True, slots=True)
class Memory:
    """What the detectors know about one agent."""

    repetitions: Repeats = Repeats()
    streak: ErrorStreak = ErrorStreak()

    def follow(self, action: Action, limits: LoopLimits) -> Memory:
        """Return the memory after one more action; waiting, or a refusal by the guard itself, clears it."""
        return self.follow_batch((action,), limits)

    def follow_batch(self, actions: Sequence[Action], limits: LoopLimits, *, late: bool = False) -> Memory:
        """
        Return the memory after actions that were made at once; they count as one.

        If ``late``, results are only looked at when they are compared; such a memory is not stored.
        """
        signatures: list[ActionSignature] = []
        for action in actions:
            kind = kind_of(action.tool, action.arguments)
            if kind is ActionKind.WAIT or is_guard_refusal(action):
                return Memory()
            signatures.append(signature_of(action, kind, late=late))
        new = joined_signature(signatures)
        return Memory(self.repetitions.follow(new, limits), self.streak.follow(new, actions[0].result))

    def found(self, limits: LoopLimits) -> DetectedLoop | None:
        """Return the loop that the newest action closed or continued."""
        period = self.repetitions.closed(limits)
        if period:
            count = 1 + self.repetitions.runs[period - 1] // period
            return _cycle(self.repetitions.recent[-period:], count, self._drifts(period))
        if self.streak.count >= limits.failures:
            newest = self.repetitions.recent[-min(self.streak.count, limits.failures) :]
            return with_text(
                DetectedLoop(
                    name="failures",
                    period=0,
                    count=self.streak.count,
                    repetition=tuple(dict.fromkeys(one.text for one in newest)),
                    error=self.streak.text,
                )
            )
        return None

    def foresee(self, action: Action, limits: LoopLimits) -> DetectedLoop | None:
        """Return the loop that a call would close or continue, before it is made."""
        kind = kind_of(action.tool, action.arguments)
        if kind is ActionKind.WAIT:
            return None
        calls, text = intended_calls(action)
        period = self.repetitions.foresee(calls, limits)
        if period:
            repetition = (
                *self.repetitions.recent[len(self.repetitions.recent) - period + 1 :],
                ActionSignature("", text=text),
            )
            return _cycle(repetition, limits.repetitions, self.repetitions.recent[-period].text != text)
        # A read is what the advice asks for, so it is never refused.
        return None if kind is ActionKind.READ else self.found(limits)

    def _drifts(self, period: int) -> bool:
        # Only the remembered signatures can be compared.
        recent = self.repetitions.recent
        pairs = zip(recent[:-period], recent[period:], strict=True)
        return any(one.text != other.text for one, other in pairs)

    def bounded(self, limits: LoopLimits) -> Memory:
        """Return the memory with no number above the limits."""
        runs = tuple(
            min(run, limits.repetitions * period) for period, run in enumerate(self.repetitions.runs, 1)
        )
        streak = replace(self.streak, count=min(self.streak.count, limits.failures))
        return Memory(Repeats(self.repetitions.recent, runs), streak)


def is_guard_refusal(action: Action) -> bool:
    """Return whether the guard that uses these detectors refused an action."""
    return action.outcome in (ActionResult.REFUSED, ActionResult.FAILED) and MARK in action.result


def _cycle(repetition: tuple[ActionSignature, ...], count: int, drifting: bool) -> DetectedLoop:
    period = len(repetition)
    return with_text(
        DetectedLoop(
            name="cycle" if period > 1 else "repetition",
            period=period,
            count=count,
            repetition=tuple(new.text for new in repetition),
            drifting=drifting,
        )
    )


def _first_words(text: str) -> str:
    line = text.strip().partition("\n")[0]
    return line if len(line) <= 200 else line[:200] + "..."


def detect(stream: Iterable[StreamItem], limits: LoopLimits | None = None) -> tuple[DetectedLoop, ...]:
    """Return the loops of a stream, in the order in which they were closed."""
    limits = limits or LoopLimits()
    agent_streams: dict[str, _AgentStream] = {}
    found: list[DetectedLoop] = []
    for item in stream:
        agent_stream = agent_streams.get(item.agent)
        if agent_stream is None:
            agent_stream = agent_streams[item.agent] = _AgentStream(limits, found)
        if isinstance(item, Action):
            agent_stream.add(item)
        else:
            agent_stream.interrupt()
    for agent_stream in agent_streams.values():
        agent_stream.interrupt()
    return tuple(found)


class _AgentStream:
    """
    The stream of one agent.

    Attributes:
        found: The loops of all streams so far.
        open: Index of the loop that the newest action belongs to.
        batch: Actions of the newest message, made at once.
    """

    __slots__ = ("batch", "found", "limits", "memory", "open", "places")

    def __init__(self, limits: LoopLimits, found: list[DetectedLoop]) -> None:
        self.limits = limits
        self.found = found
        self.memory = Memory()
        self.places: deque[str] = deque(maxlen=limits.window)
        self.open: int | None = None
        self.batch: list[Action] = []

    def add(self, action: Action) -> None:
        """Add one more action."""
        if self.batch and not (action.message and action.message == self.batch[0].message):
            self._follow()
        self.batch.append(action)

    def interrupt(self) -> None:
        """Forget the actions so far, because somebody else acted."""
        self._follow()
        self.memory, self.open = Memory(), None

    def _follow(self) -> None:
        """Look for a loop that the actions of the newest message close or continue."""
        if not self.batch:
            return
        actions, self.batch = self.batch, []
        self.memory = self.memory.follow_batch(actions, self.limits, late=True)
        self.places.append(actions[0].place)
        loop = self.memory.found(self.limits)
        if loop is None:
            self.open = None
            return
        loop = replace(loop, agent=actions[0].agent, last=actions[-1].place)
        known = self.found[self.open] if self.open is not None else None
        if self.open is not None and known is not None and known.title == loop.title:
            # The loop continues: it keeps its start and the text of its first repetitions.
            drifting = known.drifting or loop.drifting
            self.found[self.open] = with_text(
                replace(loop, repetition=known.repetition, first=known.first, drifting=drifting)
            )
            return
        # The loop was only recognised now, but it began with its first action in the window.
        span = loop.count * max(1, loop.period)
        self.open = len(self.found)
        self.found.append(replace(loop, first=self.places[-span] if span <= len(self.places) else ""))
