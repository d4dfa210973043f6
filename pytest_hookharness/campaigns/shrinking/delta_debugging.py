"""
Delta debugging: find few of some items that still show a problem, by leaving out ever smaller groups.

The algorithm is ddmin (Zeller and Hildebrandt, 2002), without its tests of single groups: the problems here
need their items together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def minimise(items: Sequence[T], shows: Callable[[tuple[T, ...]], bool], least: int = 0) -> tuple[T, ...]:
    """
    Return some of the items, in their order, that still show the problem.

    If every call of ``shows`` could decide, the result is 1-minimal: without any one of its items the problem
    does not show.

    Args:
        items: Items that show the problem together.
        shows: Whether some of them show it.
        least: How many items stay in any case.
    """
    kept = tuple(items)
    parts = 2 if len(kept) > 1 else 1
    while len(kept) > least:
        size = -(-len(kept) // parts)
        starts = range(0, len(kept), size)
        fewer = ((*kept[:start], *kept[start + size :]) for start in starts)
        found = next((some for some in fewer if len(some) >= least and shows(some)), None)
        if found is not None:
            kept, parts = found, max(2, parts - 1)
            parts = min(parts, max(1, len(kept)))
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(kept))
    return kept
