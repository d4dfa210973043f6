"""
Process hooks: what is said of tracked processes, and what became of them.

Times are seconds; those of a run count from its beginning.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from pytest_hookharness.model.moves import Script, Stop

# Who detached a process if it was the agent's own session, which the person started.
USER = 0


@dataclass(frozen=True, slots=True)
class OnExit:
    """
    The process ends.

    Attributes:
        codes: Only with one of these exit codes; empty for any. A signal counts as 128 and its number.
    """

    codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OnOutputMatch:
    """
    A line of standard output or standard error holds a match of a regular expression.
    """

    pattern: str


@dataclass(frozen=True, slots=True)
class OnTimeout:
    """
    The process runs longer than so many seconds.
    """

    seconds: float


Trigger: TypeAlias = OnExit | OnOutputMatch | OnTimeout


def trigger_name(trigger: Trigger) -> str:
    """
    The word for a trigger, as scenario files use it.
    """
    match trigger:
        case OnExit():
            return "on_exit"
        case OnOutputMatch():
            return "on_output_match"
        case OnTimeout():
            return "on_timeout"
        case _:
            assert_never(trigger)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessHook:
    """
    One hook of a tracked process: a trigger, and the thread that it spawns.

    Attributes:
        trigger: When it fires.
        instructions: What the thread is told to do.
        max_spawns: Threads that it spawns at most; ``None`` for no limit.
        script: The scripted agent of a thread; its prompt is made when the hook fires.
    """

    trigger: Trigger
    instructions: str = ""
    max_spawns: int | None = 1
    script: Script = Script(acts=(Stop(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundProcess:
    """
    A process that an agent may detach, with its hooks.

    Attributes:
        run: Its command line, for a shell in the workspace.
        purpose: Why it exists.
        related: Files that belong to it.
        summary: What the thread was about that detached it.
        hooks: Its hooks, in the order in which they fire.
        stop_after: Seconds after which somebody ends it with SIGTERM; ``None`` for nobody.
        watcher_dies: Its watcher is killed once it runs, and started again after it has ended.
    """

    run: str
    purpose: str = ""
    related: tuple[str, ...] = ()
    summary: str = ""
    hooks: tuple[ProcessHook, ...] = ()
    stop_after: float | None = None
    watcher_dies: bool = False


def hook_names(name: str, process: BackgroundProcess) -> tuple[str, ...]:
    """
    The names of a process's hooks: its own, the trigger's, and a number from the second of a trigger on.
    """
    kinds = [trigger_name(hook.trigger) for hook in process.hooks]
    counts = [kinds[: place + 1].count(kind) for place, kind in enumerate(kinds)]
    pairs = zip(kinds, counts, strict=True)
    return tuple(f"{name}.{kind}" if count == 1 else f"{name}.{kind}.{count}" for kind, count in pairs)


@dataclass(frozen=True, slots=True)
class Rate:
    """
    Threads that may be started within any stretch of time, those of the person included.
    """

    starts: int
    per: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLimits:
    """
    What holds hook threads back.

    Attributes:
        depth: How deep threads may lie; ``None`` for no limit. The person's own have depth 0.
        rate: The rate limit; ``None`` for none.
        most: The harness's own bound, which no scenario can lift: threads in all.
    """

    depth: int | None = 3
    rate: Rate | None = None
    most: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundRun:
    """
    One tracked process, as it was seen.

    Attributes:
        id: Its name, with a number if it was detached more than once.
        name: Its name in the scenario.
        by: The thread that detached it, 0 for the person's.
        side: It was detached on a side path; ``by`` is the deepest thread until then, which may be behind it.
        depth: Depth of that thread.
        pid: Its process number; 0 before its start.
        started: When it was started.
        ended: When it ended; ``None`` if it still ran.
        code: Its exit code; ``None`` as long.
        lines: Lines that it printed, as far as they were seen.
        missed: Lines that it printed while nobody watched.
    """

    id: str
    name: str
    by: int
    side: bool = False
    depth: int
    pid: int = 0
    started: float = 0.0
    ended: float | None = None
    code: int | None = None
    lines: int = 0
    missed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class HookThread:
    """
    One thread that a process hook spawned.

    Attributes:
        number: From 1.
        name: The process by its name in the scenario.
        process: The process by its id.
        hook: The hook, as ``name.on_exit``.
        because: What pulled the trigger, in words.
        depth: Its depth.
        turns: Its first and its last turn.
        verdict: The word for how it ended.
    """

    number: int
    name: str
    process: str
    hook: str
    because: str
    depth: int
    turns: tuple[int, int] = (0, 0)
    verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """
    A thread, or a process, that was not started.

    Attributes:
        process: The process by its id, or the name that was asked for.
        hook: The hook; empty if it is the process itself that was refused.
        reason: Why, in words.
        stops: Whether a limit had to stop what would have gone on.
        chain: How it came to that, root first.
    """

    process: str
    hook: str
    reason: str
    stops: bool
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundReport:
    """
    What became of all process hooks of one simulation.

    Attributes:
        processes: The processes, in the order of their start.
        threads: The threads that were spawned.
        denials: What a limit refused; each hook of a process once.
    """

    processes: tuple[BackgroundRun, ...] = ()
    threads: tuple[HookThread, ...] = ()
    denials: tuple[Denial, ...] = ()

    @property
    def depth(self) -> int:
        """
        The depth of the deepest thread.
        """
        return max((thread.depth for thread in self.threads), default=0)

    def spawned(self, word: str) -> int:
        """
        How many threads the hooks of a process spawned, or one of them (``name.on_exit``).
        """
        return sum(1 for thread in self.threads if word in (thread.name, thread.hook))
