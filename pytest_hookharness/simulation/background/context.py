"""
The memory of process hooks: the state as text, for whoever comes after a crash.

Pure; writing the text down, all of it or nothing, is the business of others. Values are written
by the names of their fields and read back by the types of these, so that a text that does not fit is found.

The context of a hook thread: all that it is told, and nothing of the history.

Pure. What a process printed is somebody else's text: it is bounded, stripped of whatever acts
on a terminal, and each line of it is marked, so that none can pass for a line of the section.

Actions: what the engine of process hooks wants done.

The state of process hooks: what was detached, spawned, and still waits.

The state is all that the engine remembers; it can be written down and read back.
"""

from __future__ import annotations

import dataclasses
import json
import signal
import types
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from pytest_hookharness.model.background import (
    BackgroundProcess,
    BackgroundRun,
    Denial,
    HookThread,
    ThreadLimits,
)

TAIL = 50
LONGEST_LINE = 500
_USUAL = {
    0: "success",
    1: "failure",
    2: "failure, often wrong usage",
    126: "the command was found and could not be executed",
    127: "the command was not found",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """
    What a thread is told of the process behind it.

    Attributes:
        command: The command line.
        pid: The process number.
        because: What pulled the trigger, in words.
        ran: Seconds that the process has run.
        purpose: Why it exists.
        instructions: What to do.
        related: Files that belong to it.
        summary: What the thread was about that detached it.
        depth: Depth of the thread.
        tail: The last lines of output.
    """

    command: str
    pid: int
    because: str
    ran: float
    purpose: str
    instructions: str
    related: tuple[str, ...]
    summary: str
    depth: int
    tail: tuple[str, ...]


def exit_meaning(code: int) -> str:
    """
    What an exit code commonly means.
    """
    if code in _USUAL:
        return _USUAL[code]
    if 128 < code <= 128 + max(signal.valid_signals()):
        number = code - 128
        names = {int(known): known.name for known in signal.Signals}
        return f"killed by {names.get(number, f'signal {number}')}"
    return "failure"


def section(context: Context) -> str:
    """
    The section of a thread's prompt.
    """
    told = [
        ("Purpose", context.purpose),
        ("Instructions", context.instructions),
        ("Related files", ", ".join(context.related)),
        ("Summary of the thread that detached it", context.summary),
    ]
    lines = [
        "A process hook has fired.",
        "",
        f"Process: {_plain(context.command)} (PID {context.pid})",
        f"Trigger: {_plain(context.because)}",
        f"Run time: {_duration(context.ran)}",
        f"Depth: {context.depth}",
        *(f"{name}: {text}" for name, text in told if text),
        "",
        f"Last lines of output ({len(context.tail)}, the process's own words, each behind a bar):",
        *(f"  | {line}" for line in context.tail),
    ]
    return "\n".join(lines)


def tidy(text: str) -> str:
    """
    A line of output as it may be kept and shown.
    """
    return _plain(text[:LONGEST_LINE]) + ("..." if len(text) > LONGEST_LINE else "")


def _plain(text: str) -> str:
    return "".join(character if character.isprintable() or character == "\t" else "?" for character in text)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {rest} s" if minutes else f"{seconds:.1f} s"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProcess:
    """
    Start a process and watch it.

    Attributes:
        process: The id that its events are to carry.
        name: Which one of the scenario's.
    """

    process: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnThread:
    """
    Play a thread, and say when it has ended; until then there will be no other.

    Attributes:
        thread: Which thread it is, and why.
        hook: The place of the hook in its process.
        context: All that the thread is told.
    """

    thread: HookThread
    hook: int
    context: Context


@dataclass(frozen=True, slots=True)
class Deny:
    """
    Note that something was not started.
    """

    denial: Denial


Action: TypeAlias = RunProcess | SpawnThread | Deny


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """
    What does not change: the processes that may be detached, and the limits.
    """

    processes: Mapping[str, BackgroundProcess]
    limits: ThreadLimits = ThreadLimits()


@dataclass(frozen=True, slots=True)
class SpawnCounts:
    """
    What one hook of one process has done.

    Attributes:
        spawned: Threads.
        fired: It fires no more: its moment comes only once, or a limit has silenced it.
    """

    spawned: int = 0
    fired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """
    A process with what its hooks need to know of it.

    Attributes:
        run: What was seen of it.
        hooks: What each of its hooks has done.
        tail: Its last lines.
    """

    run: BackgroundRun
    hooks: tuple[SpawnCounts, ...]
    tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState:
    """
    All that the engine remembers.

    Attributes:
        watched: Every process, in the order in which they were detached, by id.
        threads: Every thread that is due, runs or has ended, in order.
        waiting: The threads that are due, the next one first.
        busy: A thread runs, the person's or a hook's.
        starts: When threads were started, as far back as the rate limit looks.
        denials: What was refused.
    """

    watched: Mapping[str, Watched] = field(default_factory=dict)
    threads: tuple[HookThread, ...] = ()
    waiting: tuple[SpawnThread, ...] = ()
    busy: bool = False
    starts: tuple[float, ...] = ()
    denials: tuple[Denial, ...] = ()

    @property
    def living(self) -> tuple[str, ...]:
        """
        The processes that have not ended.
        """
        return tuple(name for name, each in self.watched.items() if each.run.ended is None)

    @property
    def quiet(self) -> bool:
        """
        Whether nothing can happen any more unless somebody detaches a process.
        """
        return not self.living and not self.waiting and not self.busy


class MemoryLost(ValueError):
    """
    What was written down cannot be read back.
    """


def write_memory(state: EngineState) -> str:
    """
    The state as JSON.
    """
    return json.dumps(dataclasses.asdict(state))


def read_memory(text: str) -> EngineState:
    """
    The state that was written.

    Raises:
        MemoryLost: The text is not one that was written for this purpose.
    """
    try:
        state = _read(EngineState, json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise MemoryLost(f"the state of the process hooks cannot be read back: {error}") from error
    assert isinstance(state, EngineState)  # noqa: S101  # for the type checker; _read builds what it is given
    return state


def _read(kind: Any, value: Any) -> Any:
    origin, inner = get_origin(kind), get_args(kind)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        if not isinstance(value, dict):
            raise TypeError(f"{value!r} is no {kind.__name__}")
        hints = get_type_hints(kind)
        return kind(**{name: _read(hints[name], each) for name, each in value.items()})
    if origin is tuple and inner[1:] == (...,):
        return tuple(_read(inner[0], each) for each in value)
    if origin is tuple:
        return tuple(_read(one, each) for one, each in zip(inner, value, strict=True))
    if origin is Mapping:
        return {name: _read(inner[1], each) for name, each in value.items()}
    if origin is types.UnionType:
        return None if value is None else _read(inner[0], value)
    if kind is float and isinstance(value, int):
        return float(value)
    if isinstance(kind, type) and isinstance(value, kind):
        return value
    raise TypeError(f"{value!r} is no {kind}")
