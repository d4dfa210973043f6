"""
Answers below ``hookSpecificOutput`` that are lost: in keys that no host reads there, or for another event.

Hosts silently ignore unknown keys there. A key that any host reads there is left out, as newer versions of
another one may read it too. The reason of an allow is read, but only the user gets it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.answers.written_answers import (
    COMPUTED,
    WrittenAnswer,
    without_comments,
)
from pytest_hookharness.judging.checkup.unseen_texts import is_advice
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Json, Ruling

NESTED = "hookSpecificOutput"
NONE_READ = "the host reads none of the keys "
ONLY_FOR_USERS = "the agent does not get the reason of an allow, "
_REASON = "permissionDecisionReason"
_NAME = "hookEventName"
# All keys that a host documents there, for any event.
_READ = (
    frozenset(["additionalContext", "permissionDecision", "permissionDecisionReason", "updatedInput"])
    | {"decision", "interrupt", "updatedToolOutput", "updatedMCPToolOutput", "updatedPermissions", "retry"}
    | {"worktreePath", "watchPaths", "sessionTitle", "initialUserMessage", "reloadSkills", "clearContext"}
    | {"action", "content", "displayContent", "suppressOriginalPrompt", "llm_request", "llm_response"}
    | {"toolConfig", "tool_input", "tailToolCallRequest", "additional_context", "updated_input"}
)
_FOR_READERS = re.compile(
    r"(?:reason|context|message|feedback|text|summary|instructions?|notes?|warnings?|advice|reminders?|hints?"
    r"|suggestions?|report|status|output)$",
    re.IGNORECASE,
)
_LONGEST = 80
# A line of a list, and what a note for the user says.
_LISTED = re.compile(r"\s*(?:[-*•]|\d+[.)]|\[ \])")
_FOR_USER = re.compile(r"^\W*(?:auto-?)?(?:approved|allowed)\b|\bthe user\b", re.IGNORECASE)
# By these a script may find out at which event it runs.
_EVENT_SIGNS = ("hook_event_name", "hookEventName =", "tool_response", "tool_output", "tool_result")


def unread_keys(host: str, hook: Hook, value: Mapping[str, Json]) -> str:
    """Return that a host reads no key of a nested answer which has a text; empty if it may read one."""
    nested, answers = value.get(NESTED), hosts.find(host).answers(hook.event)
    if not isinstance(nested, Mapping) or NESTED not in answers.known or nested.get(_NAME) != hook.event:
        return ""
    keys = [key for key in nested if key != _NAME]
    # Others may be identifiers, or for a log.
    texts = [one for key in keys if isinstance(one := nested[key], str) and _FOR_READERS.search(key)]
    says = any(one == COMPUTED or " " in one for one in texts)
    if not says or not _READ.isdisjoint(keys):
        return ""
    place = _place_of_context(host, hook)
    instead = f"; it reads {place}" if place else ""
    return f"{NONE_READ}{', '.join(keys)} in {NESTED}{instead}"


def reason_of_allow(host: str, hook: Hook, value: Mapping[str, Json]) -> str:
    """
    Return that a host does not give the agent the reason of an allow, if that is advice; empty for none.

    Only a list of advice counts: anything else may be a note for the user.
    """
    nested = value.get(NESTED)
    words = nested.get(_REASON) if isinstance(nested, Mapping) else None
    if not isinstance(words, str) or not _place_of_context(host, hook):
        return ""
    reply, lines = hosts.read_reply(hosts.find(host), hook, hook.event, value), words.strip().split("\n")
    if reply.ruling is not Ruling.ALLOW or reply.unheard is None or reply.context or len(lines) == 1:
        return ""
    is_checklist = any(map(_LISTED.match, lines)) and any(map(is_advice, lines))
    return f'{ONLY_FOR_USERS}"{lines[0][:_LONGEST]}"' if is_checklist and not _FOR_USER.search(words) else ""


def _place_of_context(host: str, hook: Hook) -> str:
    """Return the key below ``hookSpecificOutput`` in which a host reads a text for the agent; or nothing."""
    profile = hosts.find(host)
    paths = profile.answers(hook.event).context if profile.events[hook.event].context else ()
    return next((path[1] for path in paths if path[0] == NESTED and len(path) > 1), "")


def of_another_event(
    hook_set: HookSet, hooks: Sequence[Hook], text: str, answers: Sequence[WrittenAnswer]
) -> Iterator[Hook]:
    """Yield the hooks at whose event all nested answers of a script are for another event of the script."""
    nested = [one for answer in answers if isinstance(one := answer.value.get(NESTED), Mapping)]
    names = {str(one.get(_NAME)) for one in nested}
    code = without_comments(text)
    computed = any(_NAME in answer.unknown for answer in answers)
    if len(nested) < len(answers) or computed or any(sign in code for sign in _EVENT_SIGNS):
        return
    profile = hosts.find(hook_set.host)
    for hook in hooks:
        # The same command at the right event, for all tools of this one: it takes the same way there.
        right = [one for one in hooks if one.event in names and one.command == hook.command]
        covered = any(not one.matcher or _tools(hook) <= _tools(one) for one in right)
        if hook.event in names or not covered or hook.event in code:
            continue
        if profile.answers(hook.event).known and NESTED in profile.answers(hook.event).known:
            yield hook


def _tools(hook: Hook) -> frozenset[str]:
    return frozenset((hook.matcher or "*").split("|"))
