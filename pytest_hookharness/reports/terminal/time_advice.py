"""Advice on time: which limits and budgets could be enough for a verdict."""

from __future__ import annotations

import math

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Undecided

# Runs after the first refusal in which a repeated state is seen, confirmed and observed.
_MORE_RUNS = 3
# Seconds: what takes less does not use up a budget by itself.
_SLOW = 1.0


def longer_hook_runs(outcome: Outcome) -> str:
    """Return how to let a hook run decide that the harness cut before; empty if there is none."""
    early = [run.host_limit for _, run in outcome.trace.hook_runs() if run.cut_too_early]
    if not early:
        return ""
    longest, runs = max(early), len(early) + _MORE_RUNS
    if math.isinf(longest):
        return (
            "Let the hook run for as long as it needs, as the host does: a longer --hook-timeout, and a "
            f"--budget for {runs} such runs."
        )
    limit = math.ceil(longest) + 1
    return (
        f"Let the hook run for as long as the host does: --hook-timeout {limit}s {_budget(runs * limit)}. "
        f"That is time for {runs} runs up to that limit, which is enough if the state repeats. A "
        "quicker hook needs less. A `hook_timeout` in the scenario overrides the option."
    )


def budget_for_first_verdict(outcome: Outcome, verdict: Undecided) -> str:
    """Return a budget for a few more slow turns, if the time ended in one of the first; else empty."""
    runs, blocks = _MORE_RUNS + 1, outcome.blocks()
    if not verdict.is_out_of_time or blocks >= runs:
        return ""
    # Two refusals show whether the state fails to repeat because of a file, or of something that is read.
    if blocks > 1 and (verdict.changed or "time for turns" in verdict.reasons):
        return ""
    hooked = [event for _, event in outcome.trace.hooked()]
    if blocks and not hooked[-1].decision.refused:
        # The stop was allowed; time was wanted to see what slower turns do.
        return ""
    walls = [run.run.wall for _, run in outcome.trace.hook_runs() if run.run is not None]
    slowest = max(walls, default=0.0)
    if slowest < _SLOW and not verdict.running:
        return ""
    if slowest < _SLOW:
        # The slow run is the one that the budget cut, and nobody knows how long it would have taken.
        return (
            f"No slow hook run ended. If a state repeats, time for {runs} of them is enough for a verdict: "
            "give --budget (in pytest --hook-budget) that much."
        )
    return (
        f"If a state repeats, a few turns are enough for a verdict: {_budget(outcome.wall + runs * slowest)} "
        f"is time for {runs} more hook runs of {slowest:.0f} s."
    )


def _budget(seconds: float) -> str:
    minutes = f"{math.ceil(seconds / 60)}m"
    return f"--budget {minutes} (in pytest --hook-budget {minutes})"
