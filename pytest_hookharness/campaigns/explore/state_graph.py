"""
The state graph of an exploration: states, the paths to them, and the successors of their moves.

It only grows: a state keeps its number, and a move its place among the candidate moves.
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
    All states that were found.

    Attributes:
        paths: For each state the acts by which it was first reached.
        successors: For each state the successors of its moves that were tried, in the order of the moves.
        digests: The fingerprints of the states.
    """

    def __init__(self, limit: int) -> None:
        self.paths: list[tuple[Act, ...]] = []
        self.successors: list[list[Successor]] = []
        self.digests: list[str] = []
        self._numbers: dict[str, int] = {}
        self._limit = limit

    def find(self, digest: str) -> int | None:
        """Return the number of a state; ``None`` if it is not in the graph."""
        return self._numbers.get(digest)

    def add(self, digest: str, path: tuple[Act, ...]) -> int | None:
        """Add a state if it is new, and return its number; ``None`` if the graph is full."""
        if digest not in self._numbers and len(self.paths) < self._limit:
            self._numbers[digest] = len(self.paths)
            self.paths.append(path)
            self.successors.append([])
            self.digests.append(digest)
        return self.find(digest)

    def retract(self, state: int, move: int, why: str) -> None:
        """Make the successor of a move unknown again."""
        steps = self.successors[state][move].steps
        self.successors[state][move] = Successor(fate="unknown", why=why, steps=steps)

    def targets(self, moves: int) -> Graph:
        """Return the successor of every state under every move; untried moves lead to `UNKNOWN`."""
        return [
            [*map(self._target, tried), *[Exit.UNKNOWN] * (moves - len(tried))] for tried in self.successors
        ]

    def follow(self, state: int, moves: Sequence[int]) -> Iterator[tuple[int, Successor]]:
        """Yield the states on a path of moves from a state, each with the successor that led to it."""
        for move in moves:
            successor = self.successors[state][move]
            state = self._numbers[successor.digest]
            yield state, successor

    def refusals(self, states: Sequence[int]) -> tuple[HookRun, ...]:
        """Return one refusal of each hook that refuses something in some states."""
        successors = (successor for state in states for successor in self.successors[state])
        refusals = (run for successor in successors for run in successor.refusals)
        return tuple({(run.hook.event, run.hook.command): run for run in refusals}.values())

    def count_open(self, moves: int, missing: Mapping[str, int], untried: str) -> Counter[str]:
        """
        Return the number of moves whose successor is unknown, by reason.

        Args:
            moves: The number of candidate moves.
            missing: How many more moves were named, by why they are no candidates.
            untried: Why not all candidates were tried.
        """
        reasons: Counter[str] = Counter()
        for tried in self.successors:
            reasons.update(successor.why for successor in tried if successor.fate == "unknown")
            reasons[BEYOND] += sum(
                successor.fate == "state" and successor.digest not in self._numbers for successor in tried
            )
            reasons[untried] += moves - len(tried)
            reasons.update(missing)
        return reasons

    def _target(self, successor: Successor) -> Target:
        match successor.fate:
            case "state":
                return self._numbers.get(successor.digest, Exit.UNKNOWN)
            case "stopped":
                return Exit.STOP
            case "held":
                return Exit.HELD
            case "unknown":
                return Exit.UNKNOWN
            case _:
                assert_never(successor.fate)
