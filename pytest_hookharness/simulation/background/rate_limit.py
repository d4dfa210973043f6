"""
Limits: the rate of threads, and how a refusal is told.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from pytest_hookharness.model.background import USER, BackgroundRun, Denial
from pytest_hookharness.simulation.background.context import Deny, EngineState, Policy


def recent(policy: Policy, state: EngineState, at: float) -> tuple[float, ...]:
    """
    The starts that the rate limit still counts.
    """
    rate = policy.limits.rate
    return tuple(start for start in state.starts if at - start < rate.per) if rate is not None else ()


def free_from(policy: Policy, state: EngineState) -> float:
    """
    When the rate limit lets the next thread of a hook start; the time may lie behind.
    """
    rate = policy.limits.rate
    if rate is None or len(state.starts) < rate.starts:
        return 0.0
    return state.starts[-rate.starts] + rate.per


def deny(
    state: EngineState, process: str, hook: str, reason: str, *, stops: bool, chain: tuple[str, ...] = ()
) -> tuple[EngineState, tuple[Deny, ...]]:
    """
    Refuse something, and say so the first time.
    """
    denial = Denial(process=process, hook=hook, reason=reason, stops=stops, chain=chain)
    if denial in state.denials:
        return state, ()
    return replace(state, denials=(*state.denials, denial)), (Deny(denial),)


def chain_of(state: EngineState, thread: int) -> tuple[str, ...]:
    """
    How it came to a thread, root first.
    """
    return tuple(reversed([*_upwards(state, thread)]))


def _upwards(state: EngineState, number: int) -> Iterator[str]:
    while number != USER:
        thread = state.threads[number - 1]
        run = state.watched[thread.process].run
        yield f"{thread.hook} spawned thread {number} (depth {thread.depth})"
        yield detached(run)
        number = run.by


def detached(run: BackgroundRun) -> str:
    """
    Who detached a process, in words.
    """
    who = "the person's thread" if run.by == USER else f"thread {run.by} (depth {run.depth})"
    way = f"a side path, behind which {who} may stand," if run.side else who
    return f"{way} detached {run.id}"
