"""
The session as a value: where the simulated host stands.

A session can be saved and put back at any time. What it still has to do stands in
its agenda as tasks, which are values too.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.tools import TaskItem
from pytest_hookharness.hosts.rules.transcript_lines import TranscriptLine
from pytest_hookharness.hosts.session_state.facts import Facts, derive_timestamp, derive_uuid
from pytest_hookharness.hosts.session_state.requests import (
    AskHooks,
    CloseBatch,
    Ended,
    EndedHow,
    Lines,
    AwaitAct,
    CheckFile,
    Task,
)
from pytest_hookharness.hosts.settings.configuration import Configuration
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.protocol import Hook, Json, Payload, Rule
from pytest_hookharness.model.trace import Performed

IDLE_WHY = "no turn was begun"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """
    Where the simulated host stands.

    Attributes:
        profile: The host.
        configuration: Its hooks.
        facts: What is fixed for the session.
        root: Where the session was begun: the project folder, or its worktree.
        cwd: The current folder.
        tasks: The task list that the host keeps for the agent.
        known_files: Digests of files as the agent last saw them, where the host refuses to edit others.
        agenda: What is still to be done, in order.
        waiting: What was asked and is not answered.
        hooks: The hooks that were asked for it.
        messages: What the agent will see next.
        shown: What it saw last; shown again if an event takes place before it acts.
        records: Lines not yet in the transcript.
        subagent_lines: Lines not yet in the transcripts of subagents.
        performed: Calls made or refused since the last request.
        position: How many values the host has made up.
        parent: The last line of the transcript.
        waited: Seconds that the script let pass.
        prompt_id: The host's name of the prompt; empty before the first.
        in_turn: Whether a turn is going on.
        ending: How the last turn ended.
        stop_hook_active: Whether the agent goes on because a stop was refused.
        refusals_in_row: How many refusals of a stop were honoured in a row.
        calls_refused: Whether calls were refused since that count began, and none was carried out.
        subagent_refusals: The same count for the subagent.
        batch: Calls that were made in this move, for the event after all of them.
        pending_halt: The turn ends once the calls are made, with this text and rule.
        started: Whether the hooks of the session's start were asked.
        prompt: The newest prompt.
        prompts: How many prompts there were.
        held_prompts: Prompts that were refused and stay in the conversation.
        spoken: What the agent said since.
        moves: How many moves it made since.
        calls: How many calls it made in the whole session.
        stops_refused: How many stops were refused since that prompt.
        recent: The newest moves, as far as the host looks for circles: kinds and digests.
    """

    profile: Profile
    configuration: Configuration
    facts: Facts
    root: str
    cwd: str
    tasks: tuple[TaskItem, ...] = ()
    known_files: Mapping[str, str] = field(default_factory=dict)
    agenda: tuple[Task, ...] = ()
    waiting: Task | CheckFile | None = None
    hooks: tuple[Hook, ...] = ()
    messages: tuple[Message, ...] = ()
    shown: tuple[Message, ...] = ()
    records: tuple[Payload, ...] = ()
    subagent_lines: tuple[Lines, ...] = ()
    performed: tuple[Performed, ...] = ()
    position: int = 0
    parent: str = ""
    waited: float = 0.0
    prompt_id: str = ""
    in_turn: bool = False
    ending: Ended | None = None
    stop_hook_active: bool = False
    refusals_in_row: int = 0
    calls_refused: bool = False
    subagent_refusals: int = 0
    batch: tuple[Payload, ...] = ()
    pending_halt: tuple[str, Rule] | None = None
    started: bool = False
    prompt: str = ""
    prompts: int = 0
    held_prompts: tuple[str, ...] = ()
    spoken: tuple[str, ...] = ()
    moves: int = 0
    calls: int = 0
    stops_refused: int = 0
    recent: tuple[tuple[str, str], ...] = ()

    @property
    def visible(self) -> Mapping[str, Json]:
        """
        The counters, flags and folders that a hook or the agent can see.
        """
        tasks = [[task.id, task.subject, task.description, task.form, task.status] for task in self.tasks]
        return {
            "current folder": posixpath.relpath(self.cwd, self.facts.workspace),
            "in_turn": self.in_turn,
            "permission_mode": self.facts.permission_mode,
            "stop_hook_active": self.stop_hook_active,
            "task list": tasks,
            "place among the flags": self.stops_refused % len(self.facts.flags) if self.facts.flags else 0,
            **{name: value for name, value in self._counters.items() if self._is_reported(name)},
        }

    @property
    def _counters(self) -> Mapping[str, Json]:
        return {"stops_refused": self.stops_refused, "moves": self.moves, "spoken": list(self.spoken)}

    def _is_reported(self, name: str) -> bool:
        told = ("stops_refused", "stops_asked") if name == "stops_refused" else (name,)
        return any(self.profile.tells(word) for word in told)

    @property
    def env(self) -> Mapping[str, str]:
        """
        The host's environment, with what its settings add.
        """
        return {**self.facts.env, **self.configuration.env}

    def put_first(self, *tasks: Task) -> Session:
        """
        The session with tasks put before all others.
        """
        return replace(self, agenda=(*tasks, *self.agenda))

    def schedule(self, *tasks: Task) -> Session:
        """
        The session with tasks of a call put next, or behind those of all calls, as the host has it.
        """
        if not self.profile.turns.together:
            return self.put_first(*tasks)
        ends = [place for place, task in enumerate(self.agenda) if isinstance(task, CloseBatch)]
        place = ends[0] if ends else 0
        return replace(self, agenda=(*self.agenda[:place], *tasks, *self.agenda[place:]))

    def ask_model(self) -> Session:
        """
        The session that asks its agent next, and its hooks before that where the host does.
        """
        asks = (AskHooks(role=role, incidental=True) for role in self.profile.turns.before_request)
        return self.put_first(*asks, AwaitAct())

    def add_messages(self, *messages: Message) -> Session:
        """
        The session with something more for the agent to see.
        """
        return replace(self, messages=(*self.messages, *messages))

    def make_id(self, kind: str) -> tuple[str, Session]:
        """
        A fresh identifier, and the session that has given it out.
        """
        position = self.position + 1
        return derive_uuid(self.facts.seed, kind, position), replace(self, position=position)

    def write_line(self, kind: str, message: Payload, **extra: Json) -> Session:
        """
        The session with one more line for the transcript.
        """
        uuid, after = self.make_id("line")
        line = self.profile.transcript.hold(after.blank_line(uuid, after.parent), kind, message, extra)
        return replace(after, records=(*after.records, line), parent=uuid)

    def blank_line(self, uuid: str, parent: str, agent: str = "") -> TranscriptLine:
        """
        A line of a transcript, still empty.
        """
        return TranscriptLine(
            uuid=uuid,
            parent=parent,
            session=self.facts.session_id,
            cwd=self.cwd,
            version=self.profile.version,
            time=derive_timestamp(self.position, self.waited),
            agent=agent,
        )

    def with_host_counts_of(self, earlier: Session) -> Session:
        """
        The session with what its guards count put back to an earlier time; nothing that a hook sees changes.
        """
        return replace(
            self,
            refusals_in_row=earlier.refusals_in_row,
            calls_refused=earlier.calls_refused,
            subagent_refusals=earlier.subagent_refusals,
            moves=earlier.moves,
            calls=earlier.calls,
            recent=earlier.recent,
        )

    def finish(self, how: EndedHow, why: str, rule: Rule, status: str = "") -> Session:
        """
        The session after the end of the turn: nothing else of it is done.
        """
        return replace(
            self,
            agenda=(AwaitAct(),),
            in_turn=False,
            ending=Ended(how=how, why=why, rule=rule, status=status),
            pending_halt=None,
            batch=(),
            shown=(),
            subagent_refusals=0,
        )
