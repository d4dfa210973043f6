"""Child sessions: sessions of fake agents that hooks, or the agent's own calls, start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesting:
    """
    Limits on child sessions; a fake agent refuses to start more.

    Attributes:
        depth: Maximum nesting depth. The scenario's own session does not count.
        sessions: Maximum number of sessions that one event, or one call, leads to.
    """

    depth: int = 3
    sessions: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildHookRun:
    """
    One hook run in a child session.

    Attributes:
        code: Exit code; ``None`` if it did not end by itself.
        size: Number of bytes of its standard input.
        pid: Process id inside the sandbox; 0 while it is unknown.
        payload: Its standard input as JSON; empty if it was too long to keep.
        done: Whether it ended before its session did.
    """

    event: str
    command: str
    code: int | None = None
    ruling: str = "none"
    reason: str = ""
    size: int = 0
    pid: int = 0
    payload: Payload = field(default_factory=dict)
    done: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildCall:
    """
    One tool call of the agent of a child session, by the host's name of the tool.

    ``expected`` is empty if the scenario expects no decision; ``label`` is the key path there.
    """

    name: str
    refused: bool = False
    expected: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSession:
    """
    A session that a fake agent ran because a process of another session started it.

    Attributes:
        number: Number of the session, from 1, in order of start.
        parent: Number of the session that started it; 0 for the scenario's own.
        depth: Number of sessions around it.
        argv: Its command line, command name first.
        size: Number of bytes of its prompt.
        starter: The event and hook, or the call, that started it.
        ancestors: Process ids above its own, nearest first.
        ended: How it ended; empty if it was ended from outside.
        refused: The limit that refused it; empty if it ran.
        trouble: Why the fake agent could not run it; empty if it could.
    """

    number: int
    parent: int = 0
    depth: int = 1
    host: str = ""
    argv: tuple[str, ...] = ()
    size: int = 0
    starter: str = ""
    ancestors: tuple[int, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    hook_runs: tuple[ChildHookRun, ...] = ()
    calls: tuple[ChildCall, ...] = ()
    ended: str = ""
    refused: str = ""
    trouble: str = ""

    def find_starter(self, hook_runs: Sequence[tuple[str, str, int]]) -> str:
        """
        Return which of some hook runs, given as (event, command, process id), started this session.

        The process tree is the only proof. Without it, return what all these hook runs have in common.
        """
        proved = [(event, command) for event, command, pid in hook_runs if pid in self.ancestors]
        events, commands = zip(*(proved[-1:] or [run[:2] for run in hook_runs] or [("", "")]), strict=True)
        command = commands[0] if len({*commands}) == 1 else "one of several hooks"
        return f"{events[-1]} {command}".strip()
