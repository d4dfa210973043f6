"""The trace: the ordered record of one simulation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import PurePath
from typing import TypeAlias

from pytest_hookharness.model.agent_sessions import ChildSession
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Event, Move, Observation, ToolCall, ToolResult
from pytest_hookharness.model.processes import Cut, Ending, Exited, NotStarted, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import HARNESS_KEEPS, Decision, Hook, Json, Payload, Reply, Ruling

_ALARM = re.compile(r"\balarm\b|\bsetitimer\b")
_VARIABLE = re.compile(r"\$\{\w+\}")
# How a shell ends that cannot execute a command.
_NEVER_RAN = (Exited(126), Exited(127))
# Key of what is visible of a session whose host has warned the agent that it repeats itself.
HOST_WARNED = "warned of a repetition"
# The counts that some hosts put into the input of hooks.
REFUSED_STOPS, MOVES = "refused stops", "moves"
REPORTED_COUNTS = (REFUSED_STOPS, MOVES)


@dataclass(frozen=True, slots=True)
class StateEntry:
    """
    One file, folder or link below a root that belongs to the state.

    Attributes:
        kind: ``file``, ``folder``, ``link`` or ``other``.
        content: Digest of a file's content, or target of a link; empty for a folder. After a zero byte
            follow the owner, if it is not the harness's own, and a digest of extended attributes and
            access control lists.
    """

    kind: str
    mode: int
    content: str


@dataclass(frozen=True, slots=True)
class State:
    """
    Everything after one turn on which the rest of the session depends; it can be saved and restored.

    Attributes:
        visible: Counters of session and host that hooks or the agent can see.
        agent: The agent's position, as text.
        environment: Digest of the hooks' environment.
        files: Entries by state path (``workspace/...``, ``home/...``, ``tmp/...``).
        opaque: Why the state is not known completely; empty if it is. An opaque state equals no other.
        digest: Fingerprint of the whole state.
    """

    visible: Mapping[str, Json] = field(default_factory=dict)
    agent: str = ""
    environment: str = ""
    files: Mapping[str, StateEntry] = field(default_factory=dict)
    opaque: str = ""
    digest: str = ""


def one_of(commands: Iterable[str]) -> str:
    """Return the words for a text about one of several hooks; empty for a single hook."""
    several = len({*commands}) > 1
    return "; one of these hooks did it, they ran at the same time and nothing shows which" if several else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """
    One file that differs between two states.

    Attributes:
        how: ``added``, ``removed``, ``content``, ``mode`` or ``kind``.
        before: Known content before, shortened; empty if there was none.
        after: Known content after, likewise.
        hooks: Commands of the hooks that made it; empty if no hook did.
        in_doubt: Whether they ran at the same time or beside background processes, so that perhaps only some
            of them made it, or none.
    """

    path: str
    how: str
    before: str = field(default="", compare=False)
    after: str = field(default="", compare=False)
    hooks: tuple[str, ...] = field(default=(), compare=False)
    in_doubt: bool = field(default=False, compare=False)

    @property
    def doubt(self) -> str:
        """The words for a text that it is unknown what made it; empty if it is known."""
        beside = "; a background process of the session may have done it instead"
        return (one_of(self.hooks) or beside) if self.in_doubt else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HookRun:
    """
    One run of one hook, and the host's interpretation of it.

    Attributes:
        payload: Its standard input, as JSON.
        stdin: Its standard input, as bytes.
        run: The result of the process; ``None`` for a hook that the scenario answered.
        transcript_opened: Whether the hook opened the transcript; ``None`` if that is unknown.
    """

    hook: Hook
    payload: Payload
    stdin: bytes = b""
    run: ProcessResult | None = None
    reply: Reply
    transcript_opened: bool | None = None

    @property
    def ran(self) -> bool:
        """Whether the hook itself ran, and not only a shell or interpreter that did not find it."""
        if self.run is None:
            return True
        if self.run.failure is not None:
            return not self.run.failure.prevents
        ending = self.run.own_ending
        return not (isinstance(ending, NotStarted) or ending in _NEVER_RAN)

    @property
    def host_limit(self) -> float:
        """Seconds for which the host would wait for the run; infinite without a limit, or if unknown."""
        limit = self.run.limit if self.run is not None else None
        after = self.ending.after if isinstance(self.ending, TimedOut) else 0.0
        # A host that has sent its signals at its limit, and still waits, does so without end.
        return math.inf if limit is None or limit <= after else limit

    @property
    def cut_too_early(self) -> bool:
        """
        Whether the harness cut it although it might have decided before the host's own limit.

        It surely decides nothing if all of its processes wait for each other, for what never comes, or for a
        timer that ends after that limit: then the host cuts it too.
        """
        ending = self.ending
        if not isinstance(ending, TimedOut) or ending.by is not Cut.HOOK_TIMEOUT:
            return False
        # No system call shows an alarm of a program that does not handle it.
        if _ALARM.search(self.hook.command):
            return True
        return min((activity.idle_until for activity in ending.doing), default=0.0) < self.host_limit

    @property
    def answer_is_lost(self) -> bool:
        """Whether the harness kept too little of its output to read an answer that the host would read."""
        reply = self.reply
        if self.run is None or reply.ruling is not Ruling.NONE or reply.halt is not None:
            return False
        # Other text than JSON decides nothing, however long it is.
        begins = self.run.stdout.data.lstrip().startswith(b"{")
        return begins and (reply.fault or "").startswith(HARNESS_KEEPS)

    @property
    def suspicion(self) -> str:
        """What makes it likely that only its interpreter ran; empty if nothing does."""
        return self.run.doubt if self.run is not None and self.run.suspect else ""

    @property
    def reason(self) -> str:
        """The reason of its reply, without the command that some hosts add in front."""
        given, command, plugin = self.reply.reason, self.hook.command, self.hook.plugin
        if not given.startswith("["):
            return given
        # In it the host may show the folder of a plugin for its variable.
        names = _VARIABLE.findall(command) if plugin else []
        for shown in (command, *(command.replace(name, plugin) for name in names)):
            if given.startswith(f"[{shown}]: "):
                return given.removeprefix(f"[{shown}]: ")
        return given

    @property
    def demand(self) -> str:
        """Its reason, or the text for the agent if it gave none: that text may keep a turn going too."""
        return self.reason if self.reason.strip() else self.reply.context

    @property
    def ending(self) -> Ending | None:
        """How its process ended; ``None`` for a hook that the scenario answered."""
        return None if self.run is None else self.run.ending


def commands_of(hook_runs: Iterable[HookRun]) -> str:
    """Return the commands of some hook runs, once each, separated by commas."""
    return ", ".join(dict.fromkeys(hook_run.hook.command for hook_run in hook_runs))


@dataclass(frozen=True, slots=True, kw_only=True)
class Moved:
    """The agent made a move, after the messages that it saw."""

    move: Move
    saw: Observation = Observation()


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """An event of the script happened."""

    event: Event


@dataclass(frozen=True, slots=True, kw_only=True)
class Performed:
    """A tool call was carried out or refused; ``run`` is the result of its process, if there was one."""

    call: ToolCall
    result: ToolResult
    refused: bool = False
    run: ProcessResult | None = None
    changes: tuple[Change, ...] = ()
    children: tuple[ChildSession, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEvent:
    """
    The host ran the hooks of an event.

    Attributes:
        target: The text that matchers were compared with.
        hook_runs: The hook runs, in the order of configuration.
    """

    event: str
    target: str = ""
    hook_runs: tuple[HookRun, ...] = ()
    decision: Decision
    changes: tuple[Change, ...] = ()
    children: tuple[ChildSession, ...] = ()

    @property
    def refused_by_chance(self) -> str:
        """Why a refusal meets no expectation: no hook that refused surely ran; empty otherwise."""
        if not self.decision.refused and self.decision.ruling is not Ruling.DENY:
            return ""
        refusing = [run for run in self.hook_runs if self._refuses(run) or not run.ran]
        if not refusing or any(run.ran and not run.suspicion for run in refusing):
            return ""
        command, why = refusing[0].hook.command, refusing[0].suspicion
        doubt = f"it is unknown whether `{command}` itself ran: {why}" if why else f"`{command}` did not run"
        return f"refused, but {doubt}"

    @property
    def deciding(self) -> list[HookRun]:
        """The hook runs whose reply has the ruling of the decision, or whose text for the agent made it."""
        ruling = self.decision.ruling
        return [
            run
            for run in self.hook_runs
            if run.reply.ruling is ruling or (ruling is Ruling.DENY and self._refuses(run))
        ]

    def _refuses(self, run: HookRun) -> bool:
        by_text = self.decision.context_refuses and bool(run.reply.context)
        return by_text or run.reply.ruling is Ruling.DENY


Exchange: TypeAlias = Moved | Happened | Performed | HookEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One exchange in the trace, numbered from 1, in a turn; turn 0 is before the first move."""

    number: int
    turn: int
    exchange: Exchange


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """All steps, in order, and the state after each turn, by its number."""

    steps: tuple[Step, ...] = ()
    states: Mapping[int, State] = field(default_factory=dict)

    @property
    def turns(self) -> int:
        """The number of the last turn."""
        return max((step.turn for step in self.steps), default=0)

    @property
    def moves(self) -> dict[int, Move]:
        """The moves of the agent, by number of the turn."""
        return {step.turn: step.exchange.move for step in self.steps if isinstance(step.exchange, Moved)}

    def performed(self) -> Iterator[tuple[Step, Performed]]:
        """Yield the tool calls with their steps, in order."""
        for step in self.steps:
            if isinstance(step.exchange, Performed):
                yield step, step.exchange

    def results(self) -> Iterator[ProcessResult]:
        """Yield the results of all processes: those of tool calls, then those of hook runs."""
        runs = (*(call.run for _, call in self.performed()), *(one.run for _, one in self.hook_runs()))
        yield from (run for run in runs if run is not None)

    def hooked(self, event: str | None = None) -> Iterator[tuple[Step, HookEvent]]:
        """Yield the steps in which hooks ran: all, or those of one event."""
        for step in self.steps:
            if isinstance(step.exchange, HookEvent) and event in (None, step.exchange.event):
                yield step, step.exchange

    def hook_runs(self) -> Iterator[tuple[Step, HookRun]]:
        """Yield all hook runs with their steps, in order."""
        for step, hooked in self.hooked():
            for hook_run in hooked.hook_runs:
                yield step, hook_run

    def children(self) -> Iterator[tuple[Step, ChildSession]]:
        """Yield all child sessions with their steps, in order of start."""
        for step in self.steps:
            if isinstance(step.exchange, HookEvent | Performed):
                for child in step.exchange.children:
                    yield step, child


# Folders and files that tools write into a project, and that no hook looks for by name.
_NAMES = frozenset({
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".coverage", ".cache",
    ".tox", ".nox", "htmlcov",
})  # fmt: skip


def is_cache(path: str) -> bool:
    """Return whether a path is a tool's cache, or is inside one."""
    return not _NAMES.isdisjoint(PurePath(path).parts)
