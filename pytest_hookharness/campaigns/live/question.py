"""One question about a host, and the small session that asks it or several that do not disturb each other."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import field

from pytest_hookharness.campaigns.live.comparison import Difference
from pytest_hookharness.campaigns.live.session_record import ComparableSession, RecordedRun
from pytest_hookharness.hosts.rules.profile import Profile
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.hosts.settings.configuration import expand_short_form
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Act, Prompt, Script, Stop
from pytest_hookharness.model.protocol import Json, Payload, Rule
from pytest_hookharness.model.scenario import Scenario

# Replies as the file says that the input names; a reply is given once.
_HOOK = """#!/bin/sh
input=$(cat)
for reply in "replies/$1"/*; do
  [ -e "$reply" ] || continue
  mark=${reply##*/}
  case "any $input" in
    *"$mark"*)
      [ -e "done/$1-$mark" ] && continue
      mkdir -p done && : > "done/$1-$mark"
      . "./$reply" ;;
  esac
done
exit 0
"""
_PAYLOAD = ("payload keys", "payload values", "final newline")
# The effect of a hook on a session is visible in the hook runs of these events.
_WATCHED = (Role.PROMPT, Role.BEFORE_TOOL, Role.AFTER_TOOL, Role.STOP, Role.SESSION_END)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """
    One question: whether the real program does the same as the simulation.

    Attributes:
        name: The question in a few words, unique in its battery.
        group: Questions with the same group share sessions.
        mark: What the input of its hook contains; empty if only one question of the group has its event.
        replies: What its hooks do, as shell scripts, each with the name of a hook.
        hooks: Further entries of the settings, by event.
        prompt: What the user writes; empty for the usual prompt.
        turns: The number of messages of the model after which the session is cut.
        place: Which places of behaviour belong to the question, as a regular expression. Empty: all of them,
            so that a difference in a shared session is looked for in sessions with fewer questions.
        payload: Which places of hook input belong to it, as a regular expression; ``None`` for none.
        behaviour: Whether it asks about anything but hook input.
        rules: The facts that the answer confirms.
    """

    name: str
    event: str
    group: str
    mark: str = ""
    replies: Mapping[str, str] = field(default_factory=dict)
    hooks: Mapping[str, Sequence[Payload]] = field(default_factory=dict)
    settings: Payload = field(default_factory=dict)
    acts: tuple[Act, ...] = ()
    prompt: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)
    turns: int = 60
    place: str = ""
    payload: str | None = None
    behaviour: bool = True
    rules: tuple[Rule, ...] = ()

    @property
    def localised(self) -> bool:
        """Whether the place of a difference says if it belongs to this question."""
        return bool(self.place) or not self.behaviour

    def concerns(self, difference: Difference) -> bool:
        """Return whether a difference belongs to this question."""
        if difference.category == "surroundings":
            return False  # The questions about them have hooks that note them in files.
        if difference.category in _PAYLOAD:
            return self.payload is not None and bool(re.search(self.payload, difference.where))
        return self.behaviour and bool(re.search(self.place, difference.where))

    def reached(self, record: ComparableSession) -> bool:
        """Return whether the hooks of this question ran in a session, with the input that it is about."""
        return any(self.is_own(run) for turn in record.runs for run in turn)

    def is_own(self, run: RecordedRun) -> bool:
        """Return whether a hook run is one that this question is about."""
        return run.event == self.event and self.mark.encode() in run.stdin


def compose_session(profile: Profile, questions: Sequence[Question]) -> Scenario:
    """Return the session that asks some questions of one group."""
    watched = [rule.name for role in _WATCHED for rule in profile.for_role(role)]
    hooks: dict[str, list[Json]] = {
        event: [{"command": f"./hook.sh {event}"}]
        for event in dict.fromkeys((*watched, *(one.event for one in questions)))
    }
    files: dict[str, str] = {"hook.sh": _HOOK}
    for one in questions:
        for event, entries in one.hooks.items():
            listed = hooks.setdefault(event, [])
            listed += [entry for entry in entries if entry not in listed]
        files |= {f"replies/{hook}/{one.mark or 'any'}": text for hook, text in one.replies.items()}
        files |= one.files
    settings: dict[str, Json] = {**expand_short_form(profile, hooks)}
    env: dict[str, str] = {}
    options: dict[str, str] = {}
    for one in questions:
        settings |= one.settings
        env |= one.env
        options |= one.options
    prompt = next((one.prompt for one in questions if one.prompt), "Please work.")
    # Questions that are answered from one session anyway ask for the same acts.
    acts = [act for one in questions for act in one.acts]
    shared = [act for place, act in enumerate(acts) if act not in acts[:place]]
    played = acts if len(questions) == 1 else shared
    return Scenario(
        name="calibration",
        host=profile.id,
        hooks=json.loads(json.dumps(settings)),
        files=files,
        env=env,
        options=options,
        turns=min(one.turns for one in questions),
        script=Script(acts=(Prompt(text=prompt), *played, Stop())),
    )
