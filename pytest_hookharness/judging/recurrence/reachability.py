"""
Reachability in a state graph: from which states the agent can stop, and by which moves.

A graph is a list of states; each state is the list of its successors, in the order of the candidate moves.
An unknown successor could lead anywhere, so a state with one is never reported as a trap.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import TypeAlias


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

    Of several shortest paths, the first by the order of the moves is returned.
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
