"""
The state graph of an exploration: states, their successors, and from which states the agent can stop.

It only grows: a state keeps its number, and a move its place among the candidate moves. An unknown successor
could lead anywhere, so a state with one is never reported as a trap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import TypeAlias, assert_never

from pytest_hookharness.model.exploration import BEYOND, Successor
from pytest_hookharness.model.moves import Act
from pytest_hookharness.model.trace import HookRun


class Exit(Enum):
    """A successor that is no state."""

    STOP = "the hooks let the agent stop"
    HELD = "the session ended without their decision, or waits forever"
    UNKNOWN = "unknown"


Target: TypeAlias = int | Exit
Graph: TypeAlias = Sequence[Sequence[Target]]


def find_stopping(graph: Graph) -> frozenset[int]:
    """Return the states from which a path to a stop is known."""
    return _leading_to(graph, {Exit.STOP})


def find_traps(graph: Graph) -> frozenset[int]:
    """Return the trap states: no path from them leads to a stop or to an unknown successor."""
    return frozenset(range(len(graph))) - _leading_to(graph, {Exit.STOP, Exit.UNKNOWN})


def find_reachable(graph: Graph, start: int) -> frozenset[int]:
    """Return the states that can be reached from one, including itself."""
    return frozenset(state for state, _ in _walk(graph, start))


def find_path(graph: Graph, start: int, reached: Callable[[Target], bool]) -> tuple[int, ...] | None:
    """
    Return the shortest path from a state to a target, as indices of moves; ``None`` if there is none.

    If several paths are shortest, the first by the order of the moves is returned.
    """
    if reached(start):
        return ()
    for state, path in _walk(graph, start):
        for move, target in enumerate(graph[state]):
            if reached(target):
                return (*path, move)
    return None


def find_nearest(
    graph: Graph, roots: Mapping[int, int], wanted: Collection[int]
) -> tuple[int, tuple[int, ...]] | None:
    """
    Return the wanted state that is nearest to a root, as that root and the path from it.

    ``roots`` has the states where paths start, with the number of moves that lead to each of them.
    """
    paths = [(root, find_path(graph, root, lambda target: target in wanted)) for root in roots]
    found = [(root, path) for root, path in paths if path is not None]
    return min(found, key=lambda one: roots[one[0]] + len(one[1])) if found else None


def _leading_to(graph: Graph, exits: Collection[Exit]) -> frozenset[int]:
    # Search backwards from the states with such an exit.
    found = {state for state, targets in enumerate(graph) if any(target in exits for target in targets)}
    predecessors: dict[Target, list[int]] = {}
    for state, targets in enumerate(graph):
        for target in targets:
            predecessors.setdefault(target, []).append(state)
    queue = [*found]
    while queue:
        fresh = {*predecessors.get(queue.pop(), ())} - found
        found |= fresh
        queue += fresh
    return frozenset(found)


def _walk(graph: Graph, start: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield the states that can be reached, nearest first, each with the shortest path to it."""
    paths: dict[int, tuple[int, ...]] = {start: ()}
    queue = [start]
    for state in queue:
        yield state, paths[state]
        for move, target in enumerate(graph[state]):
            if isinstance(target, int) and target not in paths:
                paths[target] = (*paths[state], move)
                queue.append(target)


class StateGraph:
    """All states that were found, each with its first path and the successors of its moves, in order."""

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

        Missing moves were named and are no candidates; ``untried`` is why not all candidates were tried.
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
