"""
Lassos: states that come again, and the lap that proves it.

Pure.

What this cannot see: something outside the state that changes what happens only after the confirming
lap, such as a counter in a database or a clock that has to reach midnight. A lasso is a proof about
the state as it was taken, which is why every livelock is printed with its assumptions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pytest_hookharness.judging.recurrence.fingerprint import same
from pytest_hookharness.model.trace import State


@dataclass(frozen=True, slots=True)
class Lasso:
    """
    A stem, and a cycle of states after it.

    Attributes:
        stem: The turn after which the cycle begins.
        period: Length of the cycle in turns: the state after turn ``stem + period`` is the state
            after turn ``stem``.
    """

    stem: int
    period: int

    @property
    def last(self) -> int:
        """
        The turn that ends the confirming lap.
        """
        return self.stem + 2 * self.period


def _alike(one: State | None, other: State | None) -> bool:
    # A state without a digest was never taken, and nothing is known of it.
    return one is not None and other is not None and bool(one.digest) and same(one, other)


def propose(states: Mapping[int, State]) -> Lasso | None:
    """
    The lasso that the newest turn closes, the one with the smallest period if there are several.
    """
    if not states:
        return None
    newest = max(states)
    again = [turn for turn in states if turn < newest and _alike(states[turn], states[newest])]
    return Lasso(max(again), newest - max(again)) if again else None


def confirmed(lasso: Lasso, states: Mapping[int, State]) -> bool | None:
    """
    Whether one more lap repeated the cycle digest for digest.

    ``False`` means that one state was followed by two different ones: something that is not part of
    the state decides. ``None`` means that it is not known (yet): turns are missing, or a state on the
    way is not known completely.
    """
    unknown = False
    for turn in range(lasso.stem, lasso.stem + lasso.period + 1):
        first, second = states.get(turn), states.get(turn + lasso.period)
        if _alike(first, second):
            continue
        if first is None or second is None or first.opaque or second.opaque:
            unknown = True
            continue
        return None if unknown else False
    return None if unknown else True


def follow(lasso: Lasso | None, states: Mapping[int, State]) -> tuple[Lasso | None, bool | None]:
    """
    Take the newest turn into account: the lasso that is now pursued, and whether it is confirmed.

    A lasso stays until its lap is over. If the lap then says nothing, the search begins anew.
    """
    if lasso is not None:
        sure = confirmed(lasso, states)
        if sure is not None or max(states, default=0) < lasso.last:
            return lasso, sure
    return propose(states), None


def completed(states: Mapping[int, State]) -> Lasso | None:
    """
    The lasso whose confirming lap ended with the newest turn, if there is one.
    """
    closing = propose(states)
    if closing is None or closing.stem < closing.period:
        return None
    lasso = Lasso(closing.stem - closing.period, closing.period)
    return lasso if confirmed(lasso, states) else None


@dataclass(frozen=True, slots=True)
class Contradiction:
    """
    One state that was followed by two different ones.

    Attributes:
        first: The turn after which the state was there.
        again: The later turn after which it was there again, and went another way.
    """

    first: int
    again: int


def contradiction(states: Mapping[int, State]) -> Contradiction | None:
    """
    The first place where the same state gave two answers, if there is one.
    """
    seen: dict[str, int] = {}
    for turn in sorted(states):
        state, after = states[turn], states.get(turn + 1)
        if state.opaque or not state.digest or after is None or after.opaque or not after.digest:
            continue
        earlier = seen.setdefault(state.digest, turn)
        if earlier != turn and states[earlier + 1].digest != after.digest:
            return Contradiction(earlier, turn)
    return None
