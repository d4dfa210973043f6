"""
The engine of process hooks: from an event to the next state and to actions.

It reads no clock and starts nothing: the same state and event give the same result. Threads run one after the
other, so several hooks of one event spawn theirs in the order of the hooks.

Depth is counted by parentage: by the thread whose call detached a process, never by what a process says about
itself. If that thread is unknown, the process counts as being as deep as the deepest thread so far, so that
no detour makes a chain look shorter.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias, assert_never

from pytest_hookharness.model.background import (
    USER,
    BackgroundRun,
    Denial,
    HookThread,
    OnExit,
    OnOutputMatch,
    OnTimeout,
    ProcessHook,
    hook_names,
)
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.regex import found_in
from pytest_hookharness.simulation.background.context import TAIL, Context, exit_meaning, tidy
from pytest_hookharness.simulation.background.engine_state import (
    Action,
    Detached,
    EngineState,
    Event,
    OutputLine,
    Policy,
    ProcessExited,
    RunProcess,
    SpawnCounts,
    SpawnThread,
    Started,
    ThreadEnded,
    Tick,
    UserStarted,
    Watched,
)


def matching(hooks: Sequence[ProcessHook], counts: Sequence[SpawnCounts], text: str) -> Iterator[int]:
    """
    Yield the positions of the hooks whose pattern is found in a line.

    A hook that can spawn no more threads is not matched, so that a noisy process costs little.
    """
    for place, (hook, count) in enumerate(zip(hooks, counts, strict=True)):
        trigger = hook.trigger
        if isinstance(trigger, OnOutputMatch) and not count.done and found_in(trigger.pattern, [text]):
            yield place


Step: TypeAlias = tuple[EngineState, tuple[Action, ...]]


def _fire(
    policy: Policy, state: EngineState, process: str, place: int, because: str, at: float
) -> EngineState:
    """
    Let a hook spawn its thread, unless it has spawned enough or a limit forbids it.

    The thread waits for its turn; its context is that of now.
    """
    watched = state.watched[process]
    tracked = policy.processes[watched.run.name]
    hook, count = tracked.hooks[place], watched.hooks[place]
    if count.done:
        return state
    name, depth = watched.run.name, watched.run.depth + 1
    called = hook_names(name, tracked)[place]
    reason = _forbids(policy, state, depth)
    if reason:
        state = _count(state, process, place, replace(count, done=True))
        chain = (*chain_of(state, watched.run.by), detached(watched.run), f"{process} triggered {because}")
        return deny(state, process, called, reason, stops=True, chain=chain)
    spawned = count.spawned + 1
    # An exit and a timeout come only once.
    spent = spawned == hook.max_spawns or not isinstance(hook.trigger, OnOutputMatch)
    state = _count(state, process, place, SpawnCounts(spawned, spent))
    number = len(state.threads) + 1
    thread = HookThread(number=number, name=name, process=process, hook=called, because=because, depth=depth)
    context = _context(policy, watched, hook, because, depth, at)
    spawn = SpawnThread(thread=thread, hook=place, context=context)
    return replace(state, threads=(*state.threads, thread), waiting=(*state.waiting, spawn))


def _forbids(policy: Policy, state: EngineState, depth: int) -> str:
    limits = policy.limits
    if limits.depth is not None and depth > limits.depth:
        return f"the depth limit of {limits.depth}: the thread would be at depth {depth}"
    if len(state.threads) >= limits.most:
        return f"the harness's own bound of {counted(limits.most, 'thread')}"
    return ""


def _count(state: EngineState, process: str, place: int, count: SpawnCounts) -> EngineState:
    watched = state.watched[process]
    hooks = (*watched.hooks[:place], count, *watched.hooks[place + 1 :])
    return replace(state, watched={**state.watched, process: replace(watched, hooks=hooks)})


def _context(
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
    """Return the next state and the actions that follow from an event."""
    match event:
        case UserStarted(at=at):
            # The user is never held back, but the user's starts count for the rate limit.
            starts = (*recent(policy, state, at), at) if policy.limits.rate else ()
            return replace(state, busy=True, starts=starts), ()
        case Detached():
            return _detach(policy, state, event)
        case Started(process=process, pid=pid, at=at):
            return _note(state, process, pid=pid, started=at), ()
        case OutputLine():
            state = _read(policy, state, event)
        case ProcessExited():
            state = _end(policy, state, event)
        case ThreadEnded():
            state = replace(state, busy=False)
        case Tick(at=at):
            state = _overdue(policy, state, at)
        case _:
            assert_never(event)
    return _go_on(policy, state, event.at)


def next_due(policy: Policy, state: EngineState) -> float | None:
    """Return when the next tick is needed if nothing else happens before; ``None`` for never."""
    times = [
        watched.run.started + hook.trigger.seconds
        for watched in state.watched.values()
        if watched.run.pid and watched.run.ended is None
        for hook, count in zip(policy.processes[watched.run.name].hooks, watched.hooks, strict=True)
        if isinstance(hook.trigger, OnTimeout) and not count.done
    ]
    if state.waiting and not state.busy:
        times.append(free_from(policy, state))
    return min(times, default=None)


def _detach(policy: Policy, state: EngineState, event: Detached) -> Step:
    name, limits = event.name, policy.limits
    if name not in policy.processes:
        return deny(state, name, "", "the scenario has no process of that name", stops=False), ()
    by, side = (event.by, False) if event.by is not None else (_deepest(state), True)
    if len(state.watched) >= limits.most:
        reason = f"the harness's own bound of {limits.most} processes"
        return deny(state, name, "", reason, stops=True, chain=chain_of(state, by)), ()
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
    started = (thread for thread in state.threads if thread.number not in waiting)
    deepest = max(started, key=lambda thread: thread.depth, default=None)
    return deepest.number if deepest is not None else USER


def _note(
    state: EngineState, process: str, tail: tuple[str, ...] | None = None, **seen: float
) -> EngineState:
    watched = state.watched[process]
    run = replace(watched.run, **seen)  # type: ignore[arg-type]
    watched = replace(watched, run=run, tail=watched.tail if tail is None else tail)
    return replace(state, watched={**state.watched, process: watched})


def _read(policy: Policy, state: EngineState, event: OutputLine) -> EngineState:
    watched = state.watched[event.process]
    text = tidy(event.text)
    tail = (*watched.tail[1 - TAIL :], text)
    state = _note(state, event.process, tail=tail, lines=watched.run.lines + 1)
    for place in matching(policy.processes[watched.run.name].hooks, watched.hooks, event.text):
        state = _fire(policy, state, event.process, place, f"on_output_match ({text})", event.at)
    return state


def _end(policy: Policy, state: EngineState, event: ProcessExited) -> EngineState:
    watched = state.watched[event.process]
    if watched.run.ended is not None:
        return state
    # The watcher may see the end late; a timeout before the end still counts.
    state = _overdue(policy, state, event.at)
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
            state = _fire(policy, state, event.process, place, because, event.at)
    return state


def _overdue(policy: Policy, state: EngineState, at: float) -> EngineState:
    for process in state.living:
        run = state.watched[process].run
        for place, hook in enumerate(policy.processes[run.name].hooks):
            if isinstance(hook.trigger, OnTimeout) and run.pid and at - run.started >= hook.trigger.seconds:
                because = f"on_timeout (it runs longer than {hook.trigger.seconds:g} s)"
                state = _fire(policy, state, process, place, because, at)
    return state


def _go_on(policy: Policy, state: EngineState, at: float) -> Step:
    if state.busy or not state.waiting or at < free_from(policy, state):
        return state, ()
    starts = (*recent(policy, state, at), at) if policy.limits.rate else ()
    return replace(state, busy=True, waiting=state.waiting[1:], starts=starts), (state.waiting[0],)


def recent(policy: Policy, state: EngineState, at: float) -> tuple[float, ...]:
    """Return the starts that the rate limit still counts."""
    rate = policy.limits.rate
    return tuple(start for start in state.starts if at - start < rate.per) if rate is not None else ()


def free_from(policy: Policy, state: EngineState) -> float:
    """Return when the rate limit allows the next thread of a hook; the time may have passed already."""
    rate = policy.limits.rate
    if rate is None or len(state.starts) < rate.starts:
        return 0.0
    return state.starts[-rate.starts] + rate.per


def deny(
    state: EngineState, process: str, hook: str, reason: str, *, stops: bool, chain: tuple[str, ...] = ()
) -> EngineState:
    """Note that something was refused; the same refusal is noted once."""
    denial = Denial(process=process, hook=hook, reason=reason, stops=stops, chain=chain)
    return state if denial in state.denials else replace(state, denials=(*state.denials, denial))


def chain_of(state: EngineState, thread: int) -> tuple[str, ...]:
    """Return the chain of spawns that led to a thread, the first one first."""
    return tuple(reversed([*_upwards(state, thread)]))


def _upwards(state: EngineState, number: int) -> Iterator[str]:
    while number != USER:
        thread = state.threads[number - 1]
        run = state.watched[thread.process].run
        yield f"{thread.hook} spawned thread {number} (depth {thread.depth})"
        yield detached(run)
        number = run.by


def detached(run: BackgroundRun) -> str:
    """Return who detached a process, as a text."""
    who = "the user's thread" if run.by == USER else f"thread {run.by} (depth {run.depth})"
    starter = f"an unknown parent, at most as deep as {who}," if run.side else who
    return f"{starter} detached {run.id}"
