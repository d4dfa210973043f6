"""
The session as a value: the whole state of the simulated host.

A session can be saved and resumed at any time, since its unfinished tasks are values in its agenda.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from dataclasses import field

from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.tools_and_transcript import TaskItem, TranscriptLine
from pytest_hookharness.hosts.session_state import requests
from pytest_hookharness.hosts.session_state.facts import Facts, derive_timestamp, derive_uuid
from pytest_hookharness.hosts.settings.configuration import Configuration
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.moves import Message
from pytest_hookharness.model.protocol import Decision, Hook, Json, Payload, Rule
from pytest_hookharness.model.trace import HOST_WARNED, MOVES, REFUSED_STOPS, Performed
from pytest_hookharness.model.verdicts import SessionEnd

IDLE_WHY = "no turn started"


def context_notes(decision: Decision | None) -> tuple[Message, ...]:
    """Return the texts of a decision for the agent, as messages."""
    if decision is None:
        return ()
    return tuple(Message("context", text, decision.event) for text in decision.to_agent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """
    The state of the simulated host.

    Attributes:
        root: The folder where the session began: the project folder or its worktree.
        known_files: Digests of files as the agent last saw them, on hosts that refuse edits of changed files.
        agenda: The tasks still to be done, the next one first.
        waiting: The task whose request is not answered yet.
        hooks: The hooks of that request.
        messages: The messages that the agent will see next.
        shown: The messages that it saw last; shown again if an event happens before it acts.
        lines: Lines not yet in the transcripts, by path.
        performed: Calls made or refused since the last request.
        position: The number of values that the host has generated.
        parent: The last line of the transcript.
        waited: Seconds that the script let pass.
        prompt_id: The host's name of the prompt; empty before the first.
        stop_hook_active: Whether the agent continues because a stop was refused.
        refusals_in_row: How many refusals of a stop in a row the host has honoured.
        calls_refused: Whether calls were refused since that count started, and none was carried out.
        subagent_refusals: The same count for the subagent.
        subagent_texts: How many further texts the subagent has said, or is about to say, after refusals.
        subagent_line: The last line of its transcript.
        background: Calls that started the subagents which work in the background.
        batch: Calls already made in this move, for the event after all of them.
        pending_halt: The text and rule by which the turn ends once the calls are made.
        started: Whether the hooks of the session's start have run.
        held_prompts: Refused prompts that stay in the conversation.
        spoken: The texts that the agent said since the newest prompt.
        moves: How many moves it made since then.
        calls: How many calls it made in the whole session.
        stops_refused: How many stops were refused since the newest prompt.
        recent: Kinds and digests of the newest moves, as many as the host searches for repetitions.
        warned: Whether the host has warned of a repetition since the newest prompt.
    """

    profile: Profile
    configuration: Configuration
    facts: Facts
    root: str
    cwd: str
    tasks: tuple[TaskItem, ...] = ()
    known_files: Mapping[str, str] = field(default_factory=dict)
    agenda: tuple[requests.Task, ...] = ()
    waiting: requests.Task | requests.CheckFile | None = None
    hooks: tuple[Hook, ...] = ()
    messages: tuple[Message, ...] = ()
    shown: tuple[Message, ...] = ()
    lines: Mapping[str, tuple[Payload, ...]] = field(default_factory=dict)
    performed: tuple[Performed, ...] = ()
    position: int = 0
    parent: str = ""
    waited: float = 0.0
    prompt_id: str = ""
    in_turn: bool = False
    ending: requests.Ended | None = None
    stop_hook_active: bool = False
    refusals_in_row: int = 0
    calls_refused: bool = False
    subagent_refusals: int = 0
    subagent_texts: int = 0
    subagent_line: str = ""
    background: tuple[requests.PendingCall, ...] = ()
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
    warned: bool = False

    @property
    def visible(self) -> Mapping[str, Json]:
        """The counters, flags and folders that a hook or the agent can see."""
        tasks = [[task.id, task.subject, task.description, task.form, task.status] for task in self.tasks]
        return {
            "current folder": posixpath.relpath(self.cwd, self.facts.workspace),
            "in_turn": self.in_turn,
            "permission_mode": self.facts.permission_mode,
            "stop_hook_active": self.stop_hook_active,
            "task list": tasks,
            "subagents in the background": len(self.background),
            "position in flags": self.stops_refused % len(self.facts.flags) if self.facts.flags else 0,
            **self.reported_counts,
            **({"spoken": list(self.spoken)} if self.profile.uses_value("spoken") else {}),
            **({HOST_WARNED: True} if self.warned else {}),
            **self._subagent,
        }

    @property
    def _subagent(self) -> Mapping[str, Json]:
        """What can be seen of a subagent that goes on after a refusal."""
        if not isinstance(self.waiting, requests.AwaitSubagent) or self.waiting.call.subagent is None:
            return {}
        texts, flags = self.waiting.call.subagent.texts, self.facts.flags
        refused = self.subagent_texts if REFUSED_STOPS in self.reported_counts else 0
        return {
            "subagent": self.waiting.call.subagent.kind,
            "position in the subagent's texts": min(self.subagent_texts, len(texts) - 1),
            "position in the subagent's flags": self.subagent_texts % len(flags) if flags else 0,
            "refused stops of the subagent": refused,
        }

    @property
    def reported_counts(self) -> Mapping[str, int]:
        """The counts since the newest prompt that the host shows to hooks, by name."""
        # Other counts do not belong to the state, because then no state would ever repeat.
        uses = self.profile.uses_value
        return {
            **({REFUSED_STOPS: self.stops_refused} if uses("stops_refused") or uses("stops_asked") else {}),
            **({MOVES: self.moves} if uses("moves") else {}),
        }

    def with_larger_counts(self, counts: Mapping[str, int]) -> Session:
        """Return the session with larger counts; ``counts`` says by how much."""
        refused, moves = counts.get(REFUSED_STOPS, 0), counts.get(MOVES, 0)
        return replace(self, stops_refused=self.stops_refused + refused, moves=self.moves + moves)

    @property
    def env(self) -> Mapping[str, str]:
        """The host's environment with the variables of its settings."""
        return {**self.facts.env, **self.configuration.env}

    def put_first(self, *tasks: requests.Task) -> Session:
        """Return the session with tasks put first on the agenda."""
        return replace(self, agenda=(*tasks, *self.agenda))

    def schedule(self, *tasks: requests.Task) -> Session:
        """
        Return the session with tasks of one call added to the agenda.

        They come first on a host that takes one call after the other. A host that runs the hooks before all
        calls first has them after what is already planned, in front of ``CloseBatch``.
        """
        if not self.profile.turns.together:
            return self.put_first(*tasks)
        ends = [place for place, task in enumerate(self.agenda) if isinstance(task, requests.CloseBatch)]
        place = ends[0] if ends else 0
        return replace(self, agenda=(*self.agenda[:place], *tasks, *self.agenda[place:]))

    def ask_model(self) -> Session:
        """Return the session whose agent moves next, after the events that the host has before a request."""
        events = (requests.AskHooks(role=role, incidental=True) for role in self.profile.turns.before_request)
        return self.put_first(*events, requests.AwaitAct())

    def add_messages(self, *messages: Message) -> Session:
        """Return the session with more messages for the agent."""
        return replace(self, messages=(*self.messages, *messages))

    def replace_result(self, text: str) -> Session:
        """Return the session in which the agent gets a text instead of the last result of a call."""
        places = [place for place, one in enumerate(self.messages) if one.kind in ("result", "refusal")]
        changed = (
            replace(one, text=text) if place in places[-1:] else one
            for place, one in enumerate(self.messages)
        )
        return replace(self, messages=tuple(changed))

    def make_id(self, kind: str) -> tuple[str, Session]:
        """Return a new identifier, and the session that has used it."""
        position = self.position + 1
        return derive_uuid(self.facts.seed, kind, position), replace(self, position=position)

    def write_line(self, kind: str, message: Payload, **extra: Json) -> Session:
        """Return the session with one more line for the transcript."""
        uuid, after = self.make_id("line")
        line = self.profile.transcript.put_message(after.blank_line(uuid, after.parent), kind, message, extra)
        return replace(after, parent=uuid).add_lines(self.facts.transcript_path, line)

    def add_lines(self, path: str, *lines: Payload) -> Session:
        """Return the session with more lines for a transcript."""
        return replace(self, lines={**self.lines, path: (*self.lines.get(path, ()), *lines)})

    def blank_line(self, uuid: str, parent: str, agent: str = "") -> TranscriptLine:
        """Return a transcript line without content."""
        return TranscriptLine(
            uuid=uuid,
            parent=parent,
            session=self.facts.session_id,
            cwd=self.cwd,
            version=self.profile.version,
            time=derive_timestamp(self.facts.start, self.position, self.waited),
            agent=agent,
        )

    def with_host_counts_of(self, earlier: Session) -> Session:
        """Return the session with an earlier session's counts of the host's limits, which no hook sees."""
        return replace(
            self,
            refusals_in_row=earlier.refusals_in_row,
            calls_refused=earlier.calls_refused,
            subagent_refusals=earlier.subagent_refusals,
            moves=self.moves if MOVES in self.reported_counts else earlier.moves,
            calls=earlier.calls,
            recent=earlier.recent,
            warned=earlier.warned,
        )

    def postpone_halt(self, decision: Decision) -> Session:
        """Return the session whose turn ends once the calls are made, if a hook wants it to end."""
        if decision.halt is None:
            return self
        return replace(self, pending_halt=(decision.halt, decision.rule))

    def halt(self, decision: Decision, did: str) -> Session:
        """Return the session after a hook ended its turn. ``did`` says what the hook did."""
        why = decision.halt or "; ".join(decision.reasons)
        return self.finish("halted", f"a hook {did}: {why}", decision.rule)

    def finish(self, how: SessionEnd, why: str, rule: Rule, status: str = "") -> Session:
        """Return the session after the end of its turn: the remaining tasks of the turn are dropped."""
        return replace(
            self,
            agenda=(requests.AwaitAct(),),
            in_turn=False,
            ending=requests.Ended(how=how, why=why, rule=rule, status=status),
            pending_halt=None,
            batch=(),
            shown=(),
            subagent_refusals=0,
            subagent_texts=0,
        )
