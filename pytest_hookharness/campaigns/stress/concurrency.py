"""
Crowds: many fires of the same hooks side by side, and one after the other.

Both begin with the same state, that in which the session first fires these
hooks, and all of it is undone before the session goes on.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from pytest_hookharness import agents, hosts
from pytest_hookharness.judging.comparison.lost_updates import Weights, doubts, losses, weigh
from pytest_hookharness.judging.findings.codes import LOST_UPDATES
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.mutations import Wide
from pytest_hookharness.model.processes import Cut, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.host_actions import run_hooks
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Rounds one after the other that must agree, and most rounds side by side until something is lost.
_ALONE, _MOST_ROUNDS = 2, 6
# A round is fired twice: also on what the first time has left.
_WAVES = 2
_SHOWN = 3
_LIMITS = {Cut.LIMIT: "the host's limit", Cut.HOOK_TIMEOUT: "our patience", Cut.BUDGET: "the time of the run"}


@dataclass(frozen=True, slots=True)
class LostUpdates:
    """
    What a crowd showed.

    Attributes:
        findings: What it lost.
        notes: What of it could not be tried, and what is not known, in sentences.
    """

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def find_losses(
    stage: Testbed, agent: agents.Agent, variation: Wide, remaining: Callable[[], float]
) -> LostUpdates:
    """
    Play a session, and before hooks are fired for the first time, find out what a crowd of them loses.

    Args:
        stage: Where it is played.
        agent: The agent.
        variation: How many fires make a crowd.
        remaining: Gives the seconds that are left for all of it.
    """
    player = _Pausing(stage, agent, variation.hook_runs, remaining)
    most = stage.settings.turns or stage.scenario.turns
    while player.turn < most and isinstance(request := player.drive(remaining), hosts.NextAct):
        player.give(request, player.choose(request))
    return LostUpdates(tuple(player.found), tuple(dict.fromkeys(player.notes)))


class _UnjudgedError(Exception):
    """
    A round of which nothing can be said, and why.
    """


class _Pausing(SessionDriver):
    """
    A player that tries a crowd before it fires hooks for the first time.

    Attributes:
        found: What the crowds lost.
        notes: Which crowds show nothing, and why.
    """

    def __init__(
        self, stage: Testbed, agent: agents.Agent, width: int, remaining: Callable[[], float]
    ) -> None:
        super().__init__(stage, agent)
        self.found: list[Finding] = []
        self.notes: list[str] = []
        self._width = width
        self._remaining = remaining
        self._tried: set[tuple[str, ...]] = set()

    def _run_hooks(self, request: hosts.RunHooks, budget: float) -> None:
        hooks = tuple(hook for hook in request.hooks if hook.type == "command")
        if hooks and self._is_new(request.event, hooks):
            self._try(hooks, request)
        super()._run_hooks(request, min(budget, self._remaining()))

    def _is_new(self, event: str, hooks: Sequence[Hook]) -> bool:
        """
        Whether these hooks were not tried together at that event; from now on they are.
        """
        words = (event, *(hook.command for hook in hooks))
        new = words not in self._tried
        self._tried.add(words)
        return new

    def _try(self, hooks: Sequence[Hook], request: hosts.RunHooks) -> None:
        side_by_side = f"{self._width} fires of {request.event} side by side"
        with Checkpoint(self.testbed, self.point) as rehearsal:
            crowd = _ConcurrentBatch(self.testbed, rehearsal, request.payload, self._width)
            try:
                writers = crowd.find_writers(hooks, self._remaining)
                # Other hooks beside them change nothing, so this was tried if these were.
                if not writers or (len(writers) < len(hooks) and not self._is_new(request.event, writers)):
                    return
                lost = crowd.find_losses(writers, self._remaining)
            except _UnjudgedError as trouble:
                self.notes.append(f"Not tried (wide): what {side_by_side} lose; {trouble}.")
                return
        if lost:
            text = f"{request.event}: {self._width} fires side by side leave less than one after the other"
            command = ", ".join(hook.command for hook in writers)
            self.found.append(LOST_UPDATES.found(f"{text}: {lost}.", turn=self.turn, hook=command))
        elif crowd.doubts:
            told = ", ".join([*crowd.doubts][:_SHOWN])
            self.notes.append(
                f"Not known (wide): {side_by_side} leave less in {told}; the system does not tell how often "
                "that was written, and those that did not write have lost nothing."
            )


class _ConcurrentBatch:
    """
    Fires of the same hooks with the same input from the same state, as often as one likes.

    Attributes:
        doubts: Files of which less was left, and of which it is not known how often they were written.
    """

    def __init__(self, stage: Testbed, rehearsal: Checkpoint, payload: Payload, width: int) -> None:
        self.doubts: dict[str, None] = {}
        self._stage = stage
        self._rehearsal = rehearsal
        self._payload = payload
        self._width = width
        self._before = stage.files

    def find_writers(self, hooks: Sequence[Hook], remaining: Callable[[], float]) -> list[Hook]:
        """
        The hooks that write files: most write nothing, and two fires cost less than a crowd.

        Raises:
            _UnjudgedError: Fires were cut.
        """
        return [
            hook
            for hook in hooks
            if any(any(weights.amounts.values()) for weights in self._round([[hook]], remaining))
        ]

    def find_losses(self, hooks: Sequence[Hook], remaining: Callable[[], float]) -> str:
        """
        What is lost side by side, in words; empty if nothing was seen to be.

        Raises:
            _UnjudgedError: Fires were cut, so that what they leave says nothing.
        """
        one_by_one = [[hook] for _ in range(self._width) for hook in hooks]
        at_once = [[hook for hook in hooks for _ in range(self._width)]]
        alone = [self._round(one_by_one, remaining) for _ in range(_ALONE)]
        for _ in range(_MOST_ROUNDS):
            together = self._round(at_once, remaining)
            for wave, weights in enumerate(together):
                before = [other[wave] for other in alone]
                lost = [*losses(before, weights)]
                if lost:
                    return "; ".join(lost[:_SHOWN])
                self.doubts |= dict.fromkeys(doubts(before, weights))
            if not remaining():
                break
        return ""

    def _round(self, batches: Sequence[Sequence[Hook]], remaining: Callable[[], float]) -> list[Weights]:
        """
        Fire some batches, twice, and put everything back; what was there after each time.
        """
        seen: list[Weights] = []
        writes: Counter[str] = Counter()
        # What the scanner has seen until now is not of this round.
        self._stage.scan()
        try:
            for _ in range(_WAVES):
                for batch in batches:
                    _require_whole(run_hooks(self._stage, batch, self._payload, remaining())[0])
                self._stage.scan()
                writes.update(self._stage.scanner.written or {})
                seen.append(weigh(dict(self._changed()), writes))
        finally:
            self._rehearsal.restore()
        return seen

    def _changed(self) -> Iterator[tuple[str, bytes]]:
        for change in changes(self._before, self._stage.files):
            data = self._rehearsal.editor.read(change.path)
            if data is not None:
                yield change.path, data


def _require_whole(runs: Sequence[ProcessResult | Payload]) -> None:
    for run in runs:
        match run:
            case ProcessResult(ending=TimedOut(after=after, by=by)):
                raise _UnjudgedError(f"one was cut after {after:g} s ({_LIMITS[by]}), and that is no loss")
            case _:
                continue
