"""
Caches: what tools leave in a project, and nobody would look for by name.

The trace: the ordered evidence of one simulation.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import TypeAlias

from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.moves import Event, Move, Observation, ToolCall, ToolResult
from pytest_hookharness.model.processes import ProcessResult
from pytest_hookharness.model.protocol import Decision, Hook, Json, Payload, Reply


@dataclass(frozen=True, slots=True)
class StateEntry:
    """
    One file, folder or link of a covered root.

    Attributes:
        kind: ``file``, ``folder``, ``link`` or ``other``.
        mode: Permission bits.
        content: Digest of a file's content, target of a link, empty for a folder. Behind a zero byte
            an owner that is not the harness's own, and a digest of extended attributes and access lists.
    """

    kind: str
    mode: int
    content: str


@dataclass(frozen=True, slots=True)
class State:
    """
    All that decides how the loop goes on, after one turn. It can be saved and put back.

    Attributes:
        visible: Counters of session and host that hook or agent can see.
        agent: The agent's position, as text.
        environment: Digest of the environment that the hooks get.
        files: Entries by state path (``workspace/...``, ``home/...``, ``tmp/...``).
        opaque: Why the state is not known completely, if it is not; such a state equals nothing.
        digest: The fingerprint of all of it.
    """

    visible: Mapping[str, Json] = field(default_factory=dict)
    agent: str = ""
    environment: str = ""
    files: Mapping[str, StateEntry] = field(default_factory=dict)
    opaque: str = ""
    digest: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    One file that differs between two states.

    Attributes:
        path: State path.
        how: ``added``, ``removed``, ``content``, ``mode`` or ``kind``.
        before: What is known of its content before; empty if there was none.
        after: The same after.
    """

    path: str
    how: str
    before: str = field(default="", compare=False)
    after: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """
    One run of one hook, and what its host read from it.

    Attributes:
        hook: Which hook.
        payload: What was on its standard input, as JSON.
        stdin: The same as the exact bytes.
        run: What became of the process; ``None`` for a handler that the scenario answered.
        reply: How the host reads it.
        transcript_opened: Whether the hook opened the transcript; ``None`` if that was not seen.
    """

    hook: Hook
    payload: Payload
    stdin: bytes = b""
    run: ProcessResult | None = None
    reply: Reply
    transcript_opened: bool | None = None

    @property
    def reason(self) -> str:
        """
        The reason of its reply without the command, which some hosts put before it.
        """
        return self.reply.reason.removeprefix(f"[{self.hook.command}]: ")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """
    The agent made a move.
    """

    move: Move
    saw: Observation = Observation()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """
    An event of the script took place.
    """

    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """
    A tool call was carried out, or was refused.

    Attributes:
        call: The call.
        result: What it gave.
        refused: Whether hooks refused it.
        run: What became of the process, if there was one.
        changes: Files that differ after it.
        children: Sessions of stand-ins that it led to.
    """

    call: ToolCall
    result: ToolResult
    refused: bool = False
    run: ProcessResult | None = None
    changes: tuple[Change, ...] = ()
    children: tuple[ChildSession, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """
    The host asked the hooks of an event.

    Attributes:
        event: The host's name of the event.
        target: What matchers were compared with.
        hook_runs: The hooks that ran, in the order of configuration.
        decision: What the host made of them.
        changes: Files that differ after it.
        children: Sessions of stand-ins that it led to.
    """

    event: str
    target: str = ""
    hook_runs: tuple[HookRun, ...] = ()
    decision: Decision
    changes: tuple[Change, ...] = ()
    children: tuple[ChildSession, ...] = ()


Exchange: TypeAlias = Moved | Happened | Performed | HookEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """
    One exchange in the trace.

    Attributes:
        number: From 1.
        turn: The turn it belongs to; 0 before the first move.
        exchange: What took place.
    """

    number: int
    turn: int
    exchange: Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """
    All steps, and the state after each turn.

    Attributes:
        steps: In order.
        states: The state after each turn, by the turn's number.
    """

    steps: tuple[Step, ...] = ()
    states: Mapping[int, State] = field(default_factory=dict)

    @property
    def turns(self) -> int:
        """
        The number of the last turn.
        """
        return max((step.turn for step in self.steps), default=0)

    def hooked(self, event: str | None = None) -> Iterator[tuple[Step, HookEvent]]:
        """
        The steps in which hooks were asked, all or those of one event.
        """
        for step in self.steps:
            if isinstance(step.exchange, HookEvent) and event in (None, step.exchange.event):
                yield step, step.exchange

    def hook_runs(self) -> Iterator[tuple[Step, HookRun]]:
        """
        All fires in order.
        """
        for step, hooked in self.hooked():
            for fire in hooked.hook_runs:
                yield step, fire

    def children(self) -> Iterator[tuple[Step, ChildSession]]:
        """
        All sessions of stand-ins, in the order in which they were started.
        """
        for step in self.steps:
            if isinstance(step.exchange, HookEvent | Performed):
                for child in step.exchange.children:
                    yield step, child


_NAMES = frozenset({
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage", ".cache",
    ".tox", ".nox", "htmlcov",
})  # fmt: skip


def is_cache(path: str) -> bool:
    """
    Whether a path leads to a cache, or into one.
    """
    return not _NAMES.isdisjoint(PurePath(path).parts)
