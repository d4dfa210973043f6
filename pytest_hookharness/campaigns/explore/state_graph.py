"""
The atlas of an exploration: states, ways to them, and what moves led to there.

It grows and is never drawn anew: a state keeps its number, and a move its place on the menu.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from pytest_hookharness.judging.recurrence.reachability import Exit, Graph, Target
from pytest_hookharness.model.exploration import BEYOND, Successor
from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.trace import HookRun


class StateGraph:
    """
    All states that are known.

    Attributes:
        ways: For each state the acts by which it was first reached.
        successors: For each state what its moves led to, in the order of the menu, as far as they were made.
        digests: Their fingerprints.
    """

    def __init__(self, most: int) -> None:
        self.ways: list[tuple[Act, ...]] = []
        self.successors: list[list[Successor]] = []
        self.digests: list[str] = []
        self._numbers: dict[str, int] = {}
        self._most = most

    def find(self, digest: str) -> int | None:
        """
        The number of a state; ``None`` if it is not on the atlas.
        """
        return self._numbers.get(digest)

    def enter(self, digest: str, way: tuple[Act, ...]) -> int | None:
        """
        The number of a state, which is a new one if it was not known; ``None`` if there are enough.
        """
        if digest not in self._numbers and len(self.ways) < self._most:
            self._numbers[digest] = len(self.ways)
            self.ways.append(way)
            self.successors.append([])
            self.digests.append(digest)
        return self.find(digest)

    def doubt(self, state: int, move: int, why: str) -> None:
        """
        Take back what was known of a move.
        """
        steps = self.successors[state][move].steps
        self.successors[state][move] = Successor(fate="unknown", why=why, steps=steps)

    def draw(self, moves: int) -> Graph:
        """
        What each of so many moves leads to in each state; what was not tried leads to what is not known.
        """
        return [[*map(self._target, made), *[Exit.UNKNOWN] * (moves - len(made))] for made in self.successors]

    def follow(self, state: int, moves: Sequence[int]) -> Iterator[tuple[int, Successor]]:
        """
        What took place on a way from a state, and the state that each move leads to.
        """
        for move in moves:
            arrival = self.successors[state][move]
            state = self._numbers[arrival.digest]
            yield state, arrival

    def refusals(self, states: Sequence[int]) -> tuple[HookRun, ...]:
        """
        One refusal of each hook that refuses something in some states.
        """
        arrivals = (arrival for state in states for arrival in self.successors[state])
        fires = (fire for arrival in arrivals for fire in arrival.refusals)
        return tuple({(fire.hook.event, fire.hook.command): fire for fire in fires}.values())

    def count_open(self, moves: int, missing: Mapping[str, int], untried: str) -> Counter[str]:
        """
        How many moves lead to what is not known, by the reason.

        Args:
            moves: How many are on the menu.
            missing: How many more were named, by why they are not on it.
            untried: Why not all of them were made.
        """
        reasons: Counter[str] = Counter()
        for made in self.successors:
            reasons.update(arrival.why for arrival in made if arrival.fate == "unknown")
            reasons[BEYOND] += sum(
                arrival.fate == "state" and arrival.digest not in self._numbers for arrival in made
            )
            reasons[untried] += moves - len(made)
            reasons.update(missing)
        return reasons

    def _target(self, arrival: Successor) -> Target:
        match arrival.fate:
            case "state":
                return self._numbers.get(arrival.digest, Exit.UNKNOWN)
            case "stopped":
                return Exit.STOP
            case "held":
                return Exit.HELD
            case "unknown":
                return Exit.UNKNOWN
            case _:
                assert_never(arrival.fate)
