"""
The engine of process hooks as values: events go in, actions come out, and the state is all it remembers.

Times are in seconds since the run began. The state can be written to a journal: fields by name, read back by
their declared types, so that a text of another form is refused.
"""

from __future__ import annotations

import dataclasses
import json
import types
from collections.abc import Mapping
from dataclasses import field
from typing import Any, TypeAlias, get_args, get_origin, get_type_hints

from pytest_hookharness.model import background
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.simulation.background.context import Context


@dataclass(frozen=True, slots=True, kw_only=True)
class UserStarted:
    """The user started a thread."""

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Detached:
    """A process of the scenario was asked for, by a tool call of a thread; ``None``: unknown parent."""

    name: str
    by: int | None
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Started:
    """A process was started."""

    process: str
    pid: int
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputLine:
    """A process printed a line to standard output or error."""

    process: str
    text: str
    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessExited:
    """
    A process ended, with its exit code (128 plus the number of a signal that ended it) and its last lines.

    ``lines`` counts all that it printed, including those while its watcher was gone.
    """

    process: str
    code: int
    at: float
    lines: int = 0
    tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadEnded:
    """The running thread has ended."""

    at: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Time has passed; nothing else happened."""

    at: float


Event: TypeAlias = UserStarted | Detached | Started | OutputLine | ProcessExited | ThreadEnded | Tick


@dataclass(frozen=True, slots=True, kw_only=True)
class RunProcess:
    """Start a process of the scenario under an id that its events carry, and watch it."""

    process: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SpawnThread:
    """Run a thread of one hook of a process, and report its end with `ThreadEnded` before the next one."""

    thread: background.HookThread
    hook: int
    context: Context


Action: TypeAlias = RunProcess | SpawnThread


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The fixed part of the engine: the processes that may be detached, and the limits."""

    processes: Mapping[str, background.BackgroundProcess]
    limits: background.ThreadLimits = background.ThreadLimits()


@dataclass(frozen=True, slots=True)
class SpawnCounts:
    """How many threads one hook of one process has spawned; ``done`` if its trigger or a limit ended that."""

    spawned: int = 0
    done: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Watched:
    """A process and what its hooks need to know about it."""

    run: background.BackgroundRun
    hooks: tuple[SpawnCounts, ...]
    tail: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState:
    """
    The whole state of the engine. It can be written down and read back.

    Attributes:
        watched: All processes by id, in the order in which they were detached.
        threads: All threads that wait, run or have ended, in order.
        waiting: The threads that wait, the next one first.
        busy: Whether a thread runs, the user's or a hook's.
        starts: When threads started, as far back as the rate limit looks.
    """

    watched: Mapping[str, Watched] = field(default_factory=dict)
    threads: tuple[background.HookThread, ...] = ()
    waiting: tuple[SpawnThread, ...] = ()
    busy: bool = False
    starts: tuple[float, ...] = ()
    denials: tuple[background.Denial, ...] = ()

    @property
    def living(self) -> tuple[str, ...]:
        """The ids of the processes that have not ended."""
        return tuple(name for name, each in self.watched.items() if each.run.ended is None)

    @property
    def quiet(self) -> bool:
        """Whether nothing more can happen unless a process is detached."""
        return not self.living and not self.waiting and not self.busy


class JournalError(ValueError):
    """A text is not a journal, or is a damaged one."""


def write_journal(state: EngineState) -> str:
    """Return the state as a text that outlives a crash of the watcher."""
    return json.dumps(dataclasses.asdict(state))


def read_journal(text: str) -> EngineState:
    """Return the state that a journal contains; raise ``JournalError`` if the text is none."""
    try:
        state = _read(EngineState, json.loads(text))
    except (ValueError, TypeError, KeyError) as error:
        raise JournalError(f"the journal of the process hooks cannot be read back: {error}") from error
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
