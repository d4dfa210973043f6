"""
Nesting: sessions of an agent that hooks, or the agent's own calls, start.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pytest_hookharness.model.protocol import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Nesting:
    """
    How far sessions may start sessions, before a stand-in refuses to start another one.

    Attributes:
        depth: How many may lie within each other, below the scenario's own.
        sessions: How many one event, or one call, of the scenario's own session may lead to.
    """

    depth: int = 3
    sessions: int = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildHookRun:
    """
    One run of one hook in a session that was started on the way.

    Attributes:
        event: The host's name of the event.
        command: The hook.
        code: Its exit code; ``None`` if it did not end by itself.
        ruling: What it ruled, as the host reads it.
        reason: Why, in its own words.
        size: Bytes of its standard input.
        pid: Its process number, inside the tier's own numbering; 0 while it is not known.
        payload: Its standard input, as JSON; empty if that was too long to be kept.
        done: Whether it came to an end before its session did.
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
    One tool call of such a session's agent.

    Attributes:
        name: The host's name of the tool.
        refused: Whether hooks refused it.
        promised: What the scenario says must become of it; empty if it says nothing.
        label: Where the scenario wrote it.
    """

    name: str
    refused: bool = False
    promised: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildSession:
    """
    A session that a stand-in played because a process of another session started it.

    Attributes:
        number: From 1, in the order in which they were started.
        parent: The number of the session that it was started from; 0 for the scenario's own.
        depth: How many sessions it lies within.
        host: Whose session it is.
        argv: How it was started, the name of the command first.
        size: Bytes of its prompt.
        starter: The event and the hook, or the call, that it was started from.
        ancestors: The processes above its own, nearest first.
        environment: Its environment.
        folder: Where it was started.
        hook_runs: The fires of its hooks, in order.
        calls: The calls of its agent, in order.
        ended: How it ended; empty if it was ended from outside.
        refused: The limit beyond which it was refused; empty if it was played.
        trouble: Why the stand-in could not play it; empty if it could.
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
        Which of some fires this session was started from, given the event, command and process of each.

        Only what hangs below a fire in the table of processes is sure to be its own; without that, what
        all of them have in common is said.
        """
        sure = [(event, command) for event, command, pid in hook_runs if pid in self.ancestors]
        events, commands = zip(*(sure[-1:] or [fire[:2] for fire in hook_runs] or [("", "")]), strict=True)
        command = commands[0] if len({*commands}) == 1 else "one of several hooks"
        return f"{events[-1]} {command}".strip()
