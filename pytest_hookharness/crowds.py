"""
This module is concerned with crowds: many fires of the same hooks side by side, and one after the other.

Upper floor, above rehearsals. Both begin with the same state, that in which the session first fires these
hooks, and all of it is undone before the session goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from pytest_hookharness import agents, hosts
from pytest_hookharness.judging.fingerprint import changes
from pytest_hookharness.judging.losses import Weights, losses, weigh
from pytest_hookharness.judging.pitfall_codes import LOST_UPDATES
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.variations import Wide
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.playing import Player
from pytest_hookharness.rehearsal import Rehearsal
from pytest_hookharness.stage import Stage

# Rounds one after the other that must agree, and most rounds side by side until something is lost.
_ALONE, _MOST_ROUNDS = 2, 6
# A round is fired twice: also on what the first time has left.
_WAVES = 2
_SHOWN = 3


def find_losses(
    stage: Stage, agent: agents.Agent, variation: Wide, remaining: Callable[[], float]
) -> tuple[Finding, ...]:
    """
    Play a session, and before hooks are fired for the first time, find out what a crowd of them loses.

    Args:
        stage: Where it is played.
        agent: The agent.
        variation: How many fires make a crowd.
        remaining: Gives the seconds that are left for all of it.
    """
    player = _Pausing(stage, agent, variation.fires, remaining)
    most = stage.settings.turns or stage.scenario.turns
    while player.turn < most and isinstance(request := player.go_on(remaining), hosts.NextAct):
        player.take(request, player.choose(request))
    return tuple(player.found)


class _Pausing(Player):
    """
    A player that tries a crowd before it fires hooks for the first time.

    Attributes:
        found: What the crowds lost.
    """

    def __init__(self, stage: Stage, agent: agents.Agent, width: int, remaining: Callable[[], float]) -> None:
        super().__init__(stage, agent)
        self.found: list[Finding] = []
        self._width = width
        self._remaining = remaining
        self._tried: set[tuple[str, ...]] = set()

    def _fire(self, request: hosts.RunHooks, budget: float) -> None:
        hooks = tuple(hook for hook in request.hooks if hook.type == "command")
        words = (request.event, *(hook.command for hook in hooks))
        if hooks and words not in self._tried:
            self._tried.add(words)
            with Rehearsal(self.stage, self.moment) as rehearsal:
                crowd = _Crowd(self.stage, rehearsal, hooks, request.payload, self._width)
                lost = crowd.find_losses(self._remaining)
            if lost:
                text = (
                    f"{request.event}: {self._width} fires side by side leave less than one after the other"
                )
                command = ", ".join(hook.command for hook in hooks)
                self.found.append(LOST_UPDATES.found(f"{text}: {lost}.", turn=self.turn, hook=command))
        super()._fire(request, min(budget, self._remaining()))


class _Crowd:
    """
    Fires of the same hooks with the same input from the same state, as often as one likes.
    """

    def __init__(
        self, stage: Stage, rehearsal: Rehearsal, hooks: Sequence[Hook], payload: Payload, width: int
    ) -> None:
        self._stage = stage
        self._rehearsal = rehearsal
        self._hooks = hooks
        self._payload = payload
        self._width = width
        self._before = stage.files

    def find_losses(self, remaining: Callable[[], float]) -> str:
        """
        What is lost side by side, in words; empty if nothing was seen to be.
        """
        one_by_one = [[hook] for _ in range(self._width) for hook in self._hooks]
        at_once = [[hook for hook in self._hooks for _ in range(self._width)]]
        alone = [self._round(one_by_one, remaining)]
        if not any(amount for weights in alone[0] for amount in weights.values()):
            return ""
        alone += [self._round(one_by_one, remaining) for _ in range(_ALONE - 1)]
        for _ in range(_MOST_ROUNDS):
            together = self._round(at_once, remaining)
            for wave, weights in enumerate(together):
                lost = [*losses([other[wave] for other in alone], weights)]
                if lost:
                    return "; ".join(lost[:_SHOWN])
            if not remaining():
                break
        return ""

    def _round(self, batches: Sequence[Sequence[Hook]], remaining: Callable[[], float]) -> list[Weights]:
        """
        Fire some batches, twice, and put everything back; what was there after each time.
        """
        seen: list[Weights] = []
        for _ in range(_WAVES):
            for batch in batches:
                self._stage.fire(batch, self._payload, remaining())
            self._stage.scan()
            seen.append(weigh(dict(self._changed())))
        self._rehearsal.put_back()
        return seen

    def _changed(self) -> Iterator[tuple[str, bytes]]:
        for change in changes(self._before, self._stage.files):
            data = self._rehearsal.backstage.read(change.path)
            if data is not None:
                yield change.path, data
