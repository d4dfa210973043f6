"""
This module is concerned with the verdict on several threads: the person's, and those of process hooks.

Middle floor: judging. Pure. A run has terminated only if each of its threads has and nothing is left that
could start another one.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.model.process_hooks import Denial
from pytest_hookharness.model.verdicts import Hung, Recursing, Terminated, Undecided, Verdict

_WORST_FIRST = (Hung, Recursing, Undecided)


def judge_threads(
    verdicts: Sequence[Verdict], denials: Sequence[Denial], *, turn: int, unfinished: Sequence[str]
) -> Verdict:
    """
    The verdict on all threads together.

    Args:
        verdicts: That on each thread, the person's own first.
        denials: What was refused.
        turn: The last turn.
        unfinished: What might still have started a thread when the run was ended, in words.
    """
    stopped = next((denial for denial in denials if denial.stops), None)
    every: list[Verdict] = [*verdicts]
    if stopped is not None:
        every.append(Recursing(turn=turn, limit=stopped.reason, chain=stopped.chain))
    if unfinished:
        every.append(Undecided(turn=turn, why=f"it was ended while {'; '.join(unfinished)}"))
    for kind in _WORST_FIRST:
        for verdict in every:
            if isinstance(verdict, kind):
                return verdict
    # Left are verdicts on threads that came to an end, each by its own way.
    other = next((verdict for verdict in every if not isinstance(verdict, Terminated)), None)
    return other or Terminated(turn=turn)
