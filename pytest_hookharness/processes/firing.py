"""
This module is concerned with the firing of a hook: a thread that will be played, or a limit that forbids it.

Middle floor. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.process_hooks import HookThread, OnOutputMatch, ProcessHook, hook_names
from pytest_hookharness.processes.actions import Action, SpawnThread
from pytest_hookharness.processes.context import Context
from pytest_hookharness.processes.limiting import chain_of, deny, detached
from pytest_hookharness.processes.state import Counted, Policy, State, Watched

Step: TypeAlias = tuple[State, tuple[Action, ...]]


def fire(policy: Policy, state: State, process: str, place: int, because: str, at: float) -> Step:
    """
    Have a hook spawn its thread, unless it has spawned enough or a limit forbids it.

    The thread waits for its turn; what it is told is what is known now.
    """
    watched = state.watched[process]
    tracked = policy.processes[watched.run.name]
    hook, count = tracked.hooks[place], watched.hooks[place]
    if count.fired:
        return state, ()
    name, depth = watched.run.name, watched.run.depth + 1
    called = hook_names(name, tracked)[place]
    reason = _forbids(policy, state, depth)
    if reason:
        state = _count(state, process, place, replace(count, fired=True))
        chain = (*chain_of(state, watched.run.by), detached(watched.run), f"{process} pulled {because}")
        return deny(state, process, called, reason, stops=True, chain=chain)
    spawned = count.spawned + 1
    # An exit and a time-out come only once.
    spent = spawned == hook.max_spawns or not isinstance(hook.trigger, OnOutputMatch)
    state = _count(state, process, place, Counted(spawned, spent))
    number = len(state.threads) + 1
    thread = HookThread(number=number, name=name, process=process, hook=called, because=because, depth=depth)
    told = _tell(policy, watched, hook, because, depth, at)
    spawn = SpawnThread(thread=thread, hook=place, context=told)
    return replace(state, threads=(*state.threads, thread), waiting=(*state.waiting, spawn)), ()


def _forbids(policy: Policy, state: State, depth: int) -> str:
    limits = policy.limits
    if limits.depth is not None and depth > limits.depth:
        return f"the depth limit of {limits.depth}: the thread would lie at depth {depth}"
    if len(state.threads) >= limits.most:
        return f"the harness's own bound of {counted(limits.most, 'thread')}"
    return ""


def _count(state: State, process: str, place: int, count: Counted) -> State:
    watched = state.watched[process]
    hooks = (*watched.hooks[:place], count, *watched.hooks[place + 1 :])
    return replace(state, watched={**state.watched, process: replace(watched, hooks=hooks)})


def _tell(
    policy: Policy, watched: Watched, hook: ProcessHook, because: str, depth: int, at: float
) -> Context:
    run, process = watched.run, policy.processes[watched.run.name]
    return Context(
        command=process.run,
        pid=run.pid,
        because=because,
        ran=(at if run.ended is None else run.ended) - run.started,
        purpose=process.purpose,
        instructions=hook.instructions,
        related=process.related,
        summary=process.summary,
        depth=depth,
        tail=watched.tail,
    )
