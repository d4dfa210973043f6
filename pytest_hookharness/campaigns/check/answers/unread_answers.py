"""
Answers that stand in a hook's script and that its host refuses, or reads nothing of.

They are read by the host's own rules. An answer that says nothing which could be lost, such as one that only
allows, and one that another host understands which the script names, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import is_small, project_files, read_known_text
from pytest_hookharness.campaigns.check.answers.nested_answers import (
    NESTED,
    NONE_READ,
    ONLY_FOR_USERS,
    of_another_event,
    reason_of_allow,
    unread_keys,
)
from pytest_hookharness.campaigns.check.answers.written_answers import (
    COMPUTED,
    WrittenAnswer,
    without_comments,
    written_answers,
)
from pytest_hookharness.judging.findings.finding_catalogue import MANGLED
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Basis, Hook, Json

_IGNORED, _NO_EFFECT = "ignored: ", " has no effect on "
# Keys whose values are texts, so that an unknown one is a text too.
_TEXT = re.compile(r"(?:reason|context|message|feedback|text)$|^output$", re.IGNORECASE)
# Keys of texts for the agent, on all hosts.
_FOR_THE_AGENT = frozenset({
    "additionalContext", "additional_context", "agent_message", "agentMessage", "followup_message", "context",
})  # fmt: skip
# The same, if the host reads nothing of an answer.
_SAYS = frozenset(["message", "feedback", "warning"])
# Keys that change a call, computed by code.
_CHANGES = frozenset(["updatedInput", "updated_input"])
# Agents that have hooks and no profile here.
_OTHER_AGENTS = re.compile(r"\b(?:opencode|windsurf|cline|aider|kiro|kilo ?code|roo ?code)\b", re.IGNORECASE)
_UNKNOWN = ("the host knows none of the keys", "the host does not know ")
_REFUSES = frozenset(["block", "deny"])
_SETTINGS, _LARGEST = frozenset([".json", ".toml", ".yaml", ".yml"]), 1 << 16
# A variable with a default, and one that a script exports.
_WITH_DEFAULT, _SET_HERE = re.compile(r"\$\{\w+(?=:?-)"), re.compile(r"\bexport[ \t]+(\w+)=")
# Values of each type that a host tells apart.
_ANY: Sequence[Json] = (COMPUTED, True, 0, {}, [])
# The advice, by words of the reason.
_ADVICE = {
    "; the host knows ": "Write a word that the host knows, or print nothing if the hook does not decide.",
    "it reads hookSpecificOutput": "Move the text below `hookSpecificOutput`, beside `hookEventName`.",
    f"in {NESTED}": f"Write the text in `{NESTED}.additionalContext`, where the host reads one.",
    ONLY_FOR_USERS: f"Write the text in `{NESTED}.additionalContext`, without a decision.",
    "has no 'hookEventName'": f"Write `hookEventName`, with the name of the event, into `{NESTED}`.",
    "no JSON": "Let a program write the JSON: `jq -n --arg text \"$text\" '{systemMessage: $text}'`.",
    "ends the session": "Leave out `continue`, so that the refusal counts.",
}


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """An answer that its host does not read: why, in words, its line in the script, and the hooks."""

    why: str
    line: int
    hooks: Sequence[Hook]

    @property
    def is_unseen(self) -> bool:
        """Whether the host reads the answer, and only the text in it is lost."""
        return self.why.startswith((NONE_READ, ONLY_FOR_USERS))

    @property
    def fix(self) -> str:
        """How to fix it."""
        return next((advice for words, advice in _ADVICE.items() if words in self.why), MANGLED.fix)


def lost_answers(hook_set: HookSet, script: str, text: str) -> Iterator[LostAnswer]:
    """Yield the answers of a script or command that its host reads at no event, each reason once."""
    hooks = [hook for hook in hook_set.hooks if hook.command == script] or hook_set.hooks_of(script)
    events = hosts.find(hook_set.host).events
    if not hooks or any(hook.event not in events or hook.type != "command" for hook in hooks):
        return
    answers = [*written_answers(text)]
    readable = any(_says_something(one.value) and not _fault(hook_set.host, hooks[0], one) for one in answers)
    others = [*named_hosts(hook_set.host, text)]
    if answers and others:
        others = [*named_hosts(hook_set.host, _without_idle_names(hook_set, script, text))]
    readable = readable or _OTHER_AGENTS.search(text) is not None
    seen = set[str]()
    for answer in answers:
        faults = [_fault(hook_set.host, hook, answer) for hook in hooks]
        # The first keys of one object are enough.
        cause = NONE_READ if faults[0].startswith(NONE_READ) else faults[0]
        if not all(faults) or cause in seen:
            continue
        # Beside an answer that is read, or in a script for several hosts, it may be the one of another host.
        foreign = bool(readable or others) if faults[0].startswith(_UNKNOWN) else _is_read(others, answer)
        # A script that also knows the right key may tell the agent there.
        by_key = cause.startswith(ONLY_FOR_USERS) and "additionalContext" in text
        if not (foreign or by_key):
            seen.add(cause)
            yield LostAnswer(faults[0], answer.line, hooks)
    for hook in of_another_event(hook_set, hooks, text, answers):
        lost = ((why, one.line) for one in answers if (why := _fault(hook_set.host, hook, one)))
        yield from (LostAnswer(why, line, [hook]) for why, line in islice(lost, 1))


def named_hosts(host: str, text: str) -> Iterator[hosts.Profile]:
    """Yield the profiles of the other hosts whose names are in a text."""
    lower = text.lower()
    for profile in hosts.known():
        name = profile.name.partition("-")[0]
        if profile.name != host and name in lower and re.search(rf"(?<![a-z]){name}", lower):
            yield profile


def _without_idle_names(hook_set: HookSet, script: str, text: str) -> str:
    """
    Return the text of a script without names of other hosts that decide nothing.

    A script in a host's own folder that no other settings name is for this host alone. In it, comments,
    variables with a default and variables that the script sets itself may be left over from another host.
    """
    folders = [file.rpartition("/")[0] for file in hook_set.files]
    if not any(one.startswith(".") and script.startswith(f"{one}/") for one in folders):
        return text
    root, own = hook_set.root, {hook_set.root / file for file in hook_set.files}
    settings = (one for one in project_files(root) if one.suffix in _SETTINGS and one not in own)
    if any(script in read_known_text(one) for one in settings if is_small(one, _LARGEST)):
        return text
    set_here = "|".join(map(re.escape, _SET_HERE.findall(text)))
    code = _WITH_DEFAULT.sub("", without_comments(text))
    return re.sub(rf"\b(?:{set_here})\b", "", code) if set_here else code


def _is_read(profiles: Sequence[hosts.Profile], answer: WrittenAnswer) -> bool:
    """Return whether one of some hosts reads an answer at any of its events."""
    return any(
        not hosts.read_reply(profile, Hook(event=event, command=""), event, answer.value).fault
        for profile in profiles
        for event in profile.events
    )


def _fault(host: str, hook: Hook, answer: WrittenAnswer) -> str:
    """Return why a host does not read an answer; empty if it does, or if nothing is lost."""
    changes = answer.unknown & _CHANGES
    if answer.broken:
        known = hosts.find(host).answers(hook.event).known
        return answer.broken if known & {*answer.value} else ""
    # A value that code computes may be of any type, unless its key is that of a text.
    computed = {key for key in answer.unknown - changes if not _TEXT.search(key)}
    values = _ANY if computed else _ANY[:1]
    faults = {_fault_of(host, hook, _filled(answer.value, computed, one)) for one in values}
    why = faults.pop()
    if faults or not why:
        value = answer.value
        return "" if faults else unread_keys(host, hook, value) or reason_of_allow(host, hook, value)
    if changes and not why.startswith(_UNKNOWN):
        # It may only be that the code computes the value.
        return ""
    says = (
        bool(changes)
        or _says_something(answer.value)
        or (why.startswith(_UNKNOWN[0]) and bool(_SAYS & {*answer.value}))
    )
    return "" if why.startswith(_UNKNOWN) and not says else why


def _fault_of(host: str, hook: Hook, value: Mapping[str, Json]) -> str:
    profile = hosts.find(host)
    fault = hosts.read_reply(profile, hook, hook.event, value).fault or ""
    rule, key = profile.events[hook.event], fault.removeprefix(_IGNORED).partition(_NO_EFFECT)[0].strip("'")
    assumed = any(one.basis is Basis.ASSUMED and key in one.text for one in rule.rests_on)
    # Little is known about an event that no simulation has.
    if _NO_EFFECT in fault and (rule.unreachable or assumed):
        return ""
    return fault.removeprefix(_IGNORED) if fault.startswith(_IGNORED) else ""


def _filled(value: Mapping[str, Json], keys: Collection[str], given: Json) -> dict[str, Json]:
    """Return an answer with a value for each key whose value code computes, as far as hosts look for keys."""
    found = {key: given if key in keys and one == COMPUTED else one for key, one in value.items()}
    nested = value.get(NESTED)
    return found if not isinstance(nested, Mapping) else {**found, NESTED: _in_all(nested, keys, given)}


def _in_all(value: Mapping[str, Json], keys: Collection[str], given: Json) -> dict[str, Json]:
    return {
        key: _in_all(one, keys, given)
        if isinstance(one, Mapping)
        else given
        if key in keys and one == COMPUTED
        else one
        for key, one in value.items()
    }


def _says_something(value: Mapping[str, Json]) -> bool:
    """Return whether an answer refuses something, or has a text for the agent, in the keys of some host."""
    return any(
        key in _FOR_THE_AGENT
        or (isinstance(one, str) and one in _REFUSES)
        or (isinstance(one, Mapping) and _says_something(one))
        for key, one in value.items()
    )
