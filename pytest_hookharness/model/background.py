"""
Process hooks: the background processes of a scenario, and the record of what they did.

Times are in seconds; those of a record are measured from the start of the simulation.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Script, Stop

# Number of the thread that the user started: the agent's own session.
USER = 0


@dataclass(frozen=True, slots=True)
class OnExit:
    """
    The process ends.

    Attributes:
        codes: The exit codes that count; empty for any. A signal counts as 128 plus its number.
    """

    codes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OnOutputMatch:
    """A line of standard output or standard error matches a regular expression."""

    pattern: str


@dataclass(frozen=True, slots=True)
class OnTimeout:
    """The process runs longer than this number of seconds."""

    seconds: float


Trigger: TypeAlias = OnExit | OnOutputMatch | OnTimeout


# The keys of triggers in scenario files.
TRIGGERS: Mapping[str, type[Trigger]] = {
    "on_exit": OnExit,
    "on_output_match": OnOutputMatch,
    "on_timeout": OnTimeout,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessHook:
    """
    One hook of a background process: a trigger, and the thread that it starts.

    Attributes:
        trigger: The condition under which it fires.
        instructions: Instructions to the thread.
        max_spawns: Maximum number of threads that it starts, or `off` for no limit; 1 if not given.
            ``None``: no limit.
        script: What the agent of the thread does. Its prompt is written when the hook fires.
    """

    trigger: Trigger
    instructions: str = ""
    max_spawns: int | None = 1
    script: Script = Script(acts=(Stop(),))


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundProcess:
    """
    A background process that an agent can start, with its hooks.

    Attributes:
        run: Command line of the process, for a shell in the workspace.
        purpose: Why the process exists.
        related: Files that belong to the process.
        summary: Topic of the thread that started the process.
        hooks: Hooks of the process, in the order in which they fire.
        stop_after: Time after which somebody ends it with SIGTERM. In seconds; ``None``: nobody does.
        watcher_dies: Whether its watcher is killed while it runs, and restarted after it has ended.
    """

    run: str
    purpose: str = ""
    related: tuple[str, ...] = ()
    summary: str = ""
    hooks: tuple[ProcessHook, ...] = ()
    stop_after: float | None = None
    watcher_dies: bool = False


def hook_names(name: str, process: BackgroundProcess) -> tuple[str, ...]:
    """Return the names of a process's hooks: ``build.on_exit``, and ``build.on_exit.2`` for a second one."""
    keys = {kind: key for key, kind in TRIGGERS.items()}
    kinds = [keys[type(hook.trigger)] for hook in process.hooks]
    counts = [kinds[: place + 1].count(kind) for place, kind in enumerate(kinds)]
    pairs = zip(kinds, counts, strict=True)
    return tuple(f"{name}.{kind}" if count == 1 else f"{name}.{kind}.{count}" for kind, count in pairs)


@dataclass(frozen=True, slots=True)
class Rate:
    """
    A limit on the number of threads within any period of a certain length.

    Attributes:
        starts: Maximum number of threads, including those of the user.
        per: Length of the period. In seconds.
    """

    starts: int
    per: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadLimits:
    """
    Limits on the threads that process hooks start.

    Attributes:
        depth: Maximum depth of threads, or `off` for no limit; 3 if not given. ``None``: no limit. The
            user's own thread has depth 0.
        rate: Rate limit; none if not given.
        most: Maximum number of threads, and of processes, in total; 20 if not given. The harness needs
            this limit, so it cannot be switched off.
    """

    depth: int | None = 3
    rate: Rate | None = None
    most: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundRun:
    """
    One background process as it was observed.

    Attributes:
        id: Its name, with a number if it was started more than once.
        name: Its name in the scenario.
        by: Number of the thread that started it; 0 for the user's.
        side: Whether its parent is unknown; ``by`` is then the deepest thread so far, which may be the
            one.
        depth: Depth of that thread.
        pid: Process id; 0 before its start.
        started: Start time in seconds.
        ended: End time in seconds; ``None`` if it still ran.
        code: Exit code; ``None`` while it runs.
        lines: Number of observed lines of output.
        missed: Number of lines of output while no watcher ran.
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
    One thread that a process hook started.

    Attributes:
        number: Number of the thread, from 1.
        name: Name of the process in the scenario.
        process: Id of the process.
        hook: Name of the hook, such as ``build.on_exit``.
        because: Why the hook fired, in words.
        turns: Its first and last turn.
        verdict: Name of its verdict.
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
    A thread or process that was not started.

    Attributes:
        process: Id of the process, or the requested name.
        hook: Name of the hook; empty if the process itself was refused.
        reason: The reason, in words.
        stops: Whether a limit stopped a chain that would have continued.
        chain: The processes and hooks that led to it, root first.
    """

    process: str
    hook: str
    reason: str
    stops: bool
    chain: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BackgroundReport:
    """The record of all process hooks of one simulation."""

    processes: tuple[BackgroundRun, ...] = ()
    threads: tuple[HookThread, ...] = ()
    denials: tuple[Denial, ...] = ()

    @property
    def depth(self) -> int:
        """The depth of the deepest thread; 0 if there is none."""
        return max((thread.depth for thread in self.threads), default=0)

    def spawned(self, word: str) -> int:
        """Return the number of threads that the hooks of a process, or one (``name.on_exit``), started."""
        return sum(1 for thread in self.threads if word in (thread.name, thread.hook))
