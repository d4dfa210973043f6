"""
The engine of process hooks: an event in, the next state and actions out.

Pure: the same state and event give the same answer. Threads run one after the other, so
several hooks of one event spawn theirs in the order of the hooks. Depth is kept by parentage: by the thread
in whose call a process was detached, never by what a process says of itself. Where that thread is not
known, on a side path, the process counts as deep as the deepest thread so far, so no way around is shorter.

Matching: which hooks a line of output concerns.

Pure. A hook that can spawn nothing more is not asked, so a noisy process costs little.

The firing of a hook: a thread that will be played, or a limit that forbids it.

Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeAlias, assert_never

from pytest_hookharness.model.background import (
    USER,
    BackgroundRun,
    HookThread,
    OnExit,
    OnOutputMatch,
    OnTimeout,
    ProcessHook,
    hook_names,
)
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.simulation.background.context import (
    TAIL,
    Action,
    Context,
    EngineState,
    Policy,
    RunProcess,
    SpawnCounts,
    SpawnThread,
    Watched,
    exit_meaning,
    tidy,
)
from pytest_hookharness.simulation.background.process_events import (
    Detached,
    Event,
    OutputLine,
    ProcessExited,
    Restarted,
    Started,
    ThreadEnded,
    Tick,
    UserStarted,
)
from pytest_hookharness.simulation.background.rate_limit import (
    chain_of,
    deny,
    detached,
    free_from,
    recent,
)


def matching(hooks: Sequence[ProcessHook], counts: Sequence[SpawnCounts], text: str) -> Iterator[int]:
    """
    The places of the hooks whose pattern is found in a line.
    """
    for place, (hook, count) in enumerate(zip(hooks, counts, strict=True)):
        trigger = hook.trigger
        if isinstance(trigger, OnOutputMatch) and not count.fired and re.search(trigger.pattern, text):
            yield place


Step: TypeAlias = tuple[EngineState, tuple[Action, ...]]


def fire(policy: Policy, state: EngineState, process: str, place: int, because: str, at: float) -> Step:
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
    state = _count(state, process, place, SpawnCounts(spawned, spent))
    number = len(state.threads) + 1
    thread = HookThread(number=number, name=name, process=process, hook=called, because=because, depth=depth)
    told = _tell(policy, watched, hook, because, depth, at)
    spawn = SpawnThread(thread=thread, hook=place, context=told)
    return replace(state, threads=(*state.threads, thread), waiting=(*state.waiting, spawn)), ()


def _forbids(policy: Policy, state: EngineState, depth: int) -> str:
    limits = policy.limits
    if limits.depth is not None and depth > limits.depth:
        return f"the depth limit of {limits.depth}: the thread would lie at depth {depth}"
    if len(state.threads) >= limits.most:
        return f"the harness's own bound of {counted(limits.most, 'thread')}"
    return ""


def _count(state: EngineState, process: str, place: int, count: SpawnCounts) -> EngineState:
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


def advance(policy: Policy, state: EngineState, event: Event) -> Step:
    """
    What follows from an event.
    """
    match event:
        case UserStarted(at=at):
            # The person is not held back, but what they start counts for everybody.
            starts = (*recent(policy, state, at), at) if policy.limits.rate else ()
            return replace(state, busy=True, starts=starts), ()
        case Detached():
            return _detach(policy, state, event)
        case Started(process=process, pid=pid, at=at):
            return _note(state, process, pid=pid, started=at), ()
        case OutputLine():
            state, actions = _read(policy, state, event)
        case ProcessExited():
            state, actions = _end(policy, state, event)
        case ThreadEnded() | Restarted():
            # A thread that ran when its watcher died is not played again: its spawn was counted.
            state, actions = replace(state, busy=False), ()
        case Tick(at=at):
            state, actions = _overdue(policy, state, at)
        case _:
            assert_never(event)
    state, spawned = _go_on(policy, state, event.at)
    return state, (*actions, *spawned)


def next_due(policy: Policy, state: EngineState) -> float | None:
    """
    When a tick is needed next, if nothing else happens before; ``None`` for never.
    """
    times = [
        watched.run.started + hook.trigger.seconds
        for watched in state.watched.values()
        if watched.run.pid and watched.run.ended is None
        for hook, count in zip(policy.processes[watched.run.name].hooks, watched.hooks, strict=True)
        if isinstance(hook.trigger, OnTimeout) and not count.fired
    ]
    if state.waiting and not state.busy:
        times.append(free_from(policy, state))
    return min(times, default=None)


def _detach(policy: Policy, state: EngineState, event: Detached) -> Step:
    name, limits = event.name, policy.limits
    if name not in policy.processes:
        return deny(state, name, "", "no process of that name may be detached", stops=False)
    by, side = (event.by, False) if event.by is not None else (_deepest(state), True)
    if len(state.watched) >= limits.most:
        reason = f"the harness's own bound of {limits.most} processes"
        return deny(state, name, "", reason, stops=True, chain=chain_of(state, by))
    again = sum(1 for each in state.watched.values() if each.run.name == name)
    run = BackgroundRun(
        id=f"{name}.{again + 1}" if again else name,
        name=name,
        by=by,
        side=side,
        depth=0 if by == USER else state.threads[by - 1].depth,
        started=event.at,
    )
    hooks = (SpawnCounts(),) * len(policy.processes[name].hooks)
    watched = {**state.watched, run.id: Watched(run=run, hooks=hooks)}
    return replace(state, watched=watched), (RunProcess(process=run.id, name=name),)


def _deepest(state: EngineState) -> int:
    waiting = {spawn.thread.number for spawn in state.waiting}
    played = (thread for thread in state.threads if thread.number not in waiting)
    deepest = max(played, key=lambda thread: thread.depth, default=None)
    return deepest.number if deepest is not None else USER


def _note(
    state: EngineState, process: str, tail: tuple[str, ...] | None = None, **seen: float
) -> EngineState:
    watched = state.watched[process]
    run = replace(watched.run, **seen)  # type: ignore[arg-type]
    watched = replace(watched, run=run, tail=watched.tail if tail is None else tail)
    return replace(state, watched={**state.watched, process: watched})


def _read(policy: Policy, state: EngineState, event: OutputLine) -> Step:
    watched = state.watched[event.process]
    text = tidy(event.text)
    tail = (*watched.tail[1 - TAIL :], text)
    state = _note(state, event.process, tail=tail, lines=watched.run.lines + 1)
    actions: tuple[Action, ...] = ()
    for place in matching(policy.processes[watched.run.name].hooks, watched.hooks, event.text):
        because = f"on_output_match ({text})"
        state, more = fire(policy, state, event.process, place, because, event.at)
        actions += more
    return state, actions


def _end(policy: Policy, state: EngineState, event: ProcessExited) -> Step:
    watched = state.watched[event.process]
    if watched.run.ended is not None:
        return state, ()
    # Whoever watches may come late; the time-out was met all the same.
    state, actions = _overdue(policy, state, event.at)
    state = _note(
        state,
        event.process,
        tail=tuple(map(tidy, event.tail[-TAIL:])),
        ended=event.at,
        code=event.code,
        missed=max(0, event.lines - watched.run.lines),
    )
    for place, hook in enumerate(policy.processes[watched.run.name].hooks):
        if isinstance(hook.trigger, OnExit) and event.code in (hook.trigger.codes or (event.code,)):
            because = f"on_exit (exit code {event.code}: {exit_meaning(event.code)})"
            state, more = fire(policy, state, event.process, place, because, event.at)
            actions += more
    return state, actions


def _overdue(policy: Policy, state: EngineState, at: float) -> Step:
    actions: tuple[Action, ...] = ()
    for process in state.living:
        run = state.watched[process].run
        for place, hook in enumerate(policy.processes[run.name].hooks):
            if isinstance(hook.trigger, OnTimeout) and run.pid and at - run.started >= hook.trigger.seconds:
                because = f"on_timeout (it runs longer than {hook.trigger.seconds:g} s)"
                state, more = fire(policy, state, process, place, because, at)
                actions += more
    return state, actions


def _go_on(policy: Policy, state: EngineState, at: float) -> Step:
    if state.busy or not state.waiting or at < free_from(policy, state):
        return state, ()
    starts = (*recent(policy, state, at), at) if policy.limits.rate else ()
    return replace(state, busy=True, waiting=state.waiting[1:], starts=starts), (state.waiting[0],)
