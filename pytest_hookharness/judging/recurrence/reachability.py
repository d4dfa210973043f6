"""
Reachability: from which states a stop can be reached, and by which moves.

Pure. A graph is a list of states; each is the list of what its moves lead to, in the
order of the menu. What is not known leads everywhere, so it can never make a state a lock-out.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import Enum
from typing import TypeAlias


class Exit(Enum):
    """
    What a move leads to that is no state.
    """

    STOP = "the hooks let the agent stop"
    HELD = "the session is over without their leave, or waits for ever"
    UNKNOWN = "not known"


Target: TypeAlias = int | Exit
Graph: TypeAlias = Sequence[Sequence[Target]]


def find_stopping(graph: Graph) -> frozenset[int]:
    """
    The states from which some way is known to lead to a stop.
    """
    return _leading_to(graph, {Exit.STOP})


def find_locked(graph: Graph) -> frozenset[int]:
    """
    The states from which no way leads to a stop, nor to anything that is not known.
    """
    return frozenset(range(len(graph))) - _leading_to(graph, {Exit.STOP, Exit.UNKNOWN})


def find_reachable(graph: Graph, start: int) -> frozenset[int]:
    """
    The states that can be reached from one, itself included.
    """
    return frozenset(state for state, _ in _walk(graph, start))


def find_way(graph: Graph, start: int, arrived: Callable[[Target], bool]) -> tuple[int, ...] | None:
    """
    The shortest way from a state to a target, as places of moves; of several the first by the menu.
    """
    if arrived(start):
        return ()
    for state, way in _walk(graph, start):
        for move, target in enumerate(graph[state]):
            if arrived(target):
                return (*way, move)
    return None


def nearest(
    graph: Graph, roots: Mapping[int, int], wanted: Collection[int]
) -> tuple[int, tuple[int, ...]] | None:
    """
    The state among those that are wanted which is nearest to a root, as that root and the way from it.

    Args:
        graph: The graph.
        roots: States from which ways begin, and how many moves lead to each of them.
        wanted: States to look for.
    """
    ways = [(root, find_way(graph, root, lambda target: target in wanted)) for root in roots]
    found = [(root, way) for root, way in ways if way is not None]
    return min(found, key=lambda one: roots[one[0]] + len(one[1])) if found else None


def _leading_to(graph: Graph, exits: Collection[Exit]) -> frozenset[int]:
    found = {state for state, targets in enumerate(graph) if any(target in exits for target in targets)}
    before: dict[Target, list[int]] = {}
    for state, targets in enumerate(graph):
        for target in targets:
            before.setdefault(target, []).append(state)
    ahead = [*found]
    while ahead:
        fresh = {*before.get(ahead.pop(), ())} - found
        found |= fresh
        ahead += fresh
    return frozenset(found)


def _walk(graph: Graph, start: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """
    The states that can be reached, the nearest first, each with the shortest way to it.
    """
    ways: dict[int, tuple[int, ...]] = {start: ()}
    ahead = [start]
    for state in ahead:
        yield state, ways[state]
        for move, target in enumerate(graph[state]):
            if isinstance(target, int) and target not in ways:
                ways[target] = (*ways[state], move)
                ahead.append(target)
