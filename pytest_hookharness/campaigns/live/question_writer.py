"""What all questions about a host have in common: the acts that make an event occur, and scripts of hooks."""

from __future__ import annotations

import itertools
import shlex
from typing import Any

from pytest_hookharness.campaigns.live.question import Question
from pytest_hookharness.hosts.explanations import ExplainedCase, explain, explained_cases
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.turns import AskEffect, Role
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.host_facts import Meaning
from pytest_hookharness.model.moves import Act, RunCommand, Stop, Tools
from pytest_hookharness.model.processes import Exited, TimedOut
from pytest_hookharness.model.protocol import Payload

# Seconds that a hook sleeps that is to reach its timeout of one second.
LONG = 8
# The input of these events has the command of a call or the agent's last text, and in it a question's mark.
MARKED = (
    *(Role.BEFORE_TOOL, Role.PERMISSION, Role.AFTER_TOOL, Role.TOOL_FAILED, Role.AFTER_BATCH),
    *(Role.FOLDER_CHANGED, Role.STOP),
)
_ASKED = (
    *(*MARKED, Role.SESSION_START, Role.INSTRUCTIONS, Role.EXPANSION, Role.PROMPT, Role.MESSAGE),
    *(Role.BEFORE_MODEL, Role.TOOL_CHOICE, Role.AFTER_MODEL, Role.SESSION_END),
)
# Events that need more than calls and a stop to occur.
SPECIAL = (Role.INSTRUCTIONS, Role.EXPANSION, Role.FOLDER_CHANGED)


def unasked_events(profile: Profile) -> tuple[str, ...]:
    """Return the events that occur in simulated sessions, and to which no question leads."""
    reached = (rule for rule in profile.events.values() if not rule.unreachable)
    return tuple(rule.name for rule in reached if rule.role not in _ASKED)


@dataclass(frozen=True, slots=True)
class Case:
    """One way in which a hook run ends, and its meaning for the host, as `explain` shows them."""

    end: ExplainedCase
    meaning: Meaning

    @property
    def output(self) -> str:
        """What the hook prints, as an argument of a shell command."""
        return shlex.quote(self.end.stdout)

    def script(self, words: str) -> str:
        """Return the script of a hook that ends in this way, with some words in its output."""
        if isinstance(self.end.ending, TimedOut):
            return f"sleep {LONG}\n"
        texts = ((self.end.stdout, ""), (self.end.stderr, " >&2"))
        prints = [f"printf %s {shlex.quote(text.replace('TEXT', words))}{to}" for text, to in texts if text]
        code = self.end.ending.code if isinstance(self.end.ending, Exited) else 1
        return "\n".join([*prints, f"exit {code}", ""])


class QuestionWriter:
    """Writes questions about one host: of the cases of its events; ``limit`` gives a handler a second."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.events = [
            rule
            for rule in profile.events.values()
            if rule.role in _ASKED and not (rule.unreachable or rule.second_name_of)
        ]
        self.cases = {rule.name: self._cases_of(rule) for rule in self.events}
        self.limit: Payload = {profile.config.keys.timeout: round(1 / profile.config.limits.unit)}
        self._numbers = itertools.count(1)

    def _cases_of(self, rule: EventRule) -> dict[str, Case]:
        (explained,) = explain(self.profile, rule.name)
        ends = explained_cases(self.profile, rule, explained.limit)
        return {end.name: Case(end, one) for end, one in zip(ends, explained.meanings, strict=True)}

    def waits_for_person(self, rule: EventRule, name: str) -> bool:
        """Return whether the session of a case does not end, because its host waits for a person."""
        asks = rule.role is Role.BEFORE_TOOL and name == "ask"
        return asks and self.profile.turns.ask_effect is AskEffect.WAITS

    def mark(self) -> str:
        """Return a mark that no other question has."""
        return f"question-{next(self._numbers):03d}"

    def entry(self, command: str, **keys: Any) -> Payload:
        """Return an entry of the settings."""
        return {self.profile.config.types["command"]: command, **keys}

    def ask(self, rule: EventRule, name: str, mark: str = "", **own: Any) -> Question:
        """Return a question about an event, in a session in which the event occurs."""
        given: dict[str, Any] = {
            "mark": mark if rule.role in MARKED else "",
            "group": f"{rule.name}: all" if rule.role in MARKED else name,
            **self.occasion(rule, mark or "words"),
            **own,
        }
        return Question(name=f"{rule.name}: {name}", event=rule.name, **given)

    def occasion(self, rule: EventRule, mark: str) -> dict[str, Any]:
        """Return what makes an event occur, as values of a question; its input has the mark, if possible."""
        acts: tuple[Act, ...] = ()
        match rule.role:
            case Role.STOP:
                # After a call no limit on refusals in a row is reached.
                acts = (Stop(text=f"Done with {mark}."), RunCommand(command=f"echo {mark}"))
            case Role.TOOL_FAILED:
                acts = (RunCommand(command=f"ls missing-{mark}"),)
            case Role.PERMISSION if self.profile.turns.mode in self.profile.turns.unasked_modes:
                # Codex, where a call says that it needs a permission.
                asking = {"sandbox_permissions": "require_escalated", "justification": "needed"}
                call = self.profile.tools.call(RunCommand(command=f"touch {mark}"), "/")
                acts = (Tools(calls=(replace(call, input={**call.input, **asking}),)),)
                return {"acts": acts, "options": {"permission_mode": "default"}}
            case Role.PERMISSION:
                acts = (RunCommand(command=f"touch {mark}"),)
            case Role.FOLDER_CHANGED:
                acts = (RunCommand(command=f"mkdir -p {mark} && cd {mark}"),)
            case Role.INSTRUCTIONS:
                return {"files": dict.fromkeys(self.profile.config.instructions[:1], "Be brief.\n")}
            case Role.EXPANSION if self.profile.commands is not None:
                commands = self.profile.commands
                folder = next(iter(commands.folders)).removeprefix("workspace/")
                file = f"{folder}/work{commands.suffix}"
                return {"prompt": "/work hard", "files": {file: f"Work {commands.arguments}.\n"}}
            case role if role in MARKED:
                acts = (RunCommand(command=f"echo {mark}"),)
            case _:
                return {}
        return {"acts": acts}
