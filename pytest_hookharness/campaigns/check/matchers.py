"""
Matchers that fit nothing, or not what they seem to fit.

Nothing is said about a name of a tool that nobody knows: the person may have added that tool.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.tool_names import (
    known_tools,
    matched_tools,
    misnamed_tools,
    usual_tools,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_CLOSED = frozenset({hosts.Role.SESSION_START, hosts.Role.BEFORE_COMPACT, hosts.Role.AFTER_COMPACT})
# What no tool's name contains: conditions such as `tool == "Bash" && ...` and `Bash(git push:*)` do.
_NO_NAME = re.compile(r"[\s\"'=&<>]|\(\w+[ :]")


def never_matches(hook_set: HookSet, hook: Hook) -> str:
    """Return why a hook's matcher or condition fits nothing; empty if it may fit something."""
    profile = hosts.find(hook_set.host)
    rule = profile.events.get(hook.event)
    if rule is None:
        return ""
    condition = profile.matchers.condition
    if condition and isinstance(hook.options.get(condition), str) and rule.target != "tool_name":
        return f"its `{condition}` is about tools, and {hook.event} has none"
    if not hook.matcher or not rule.target:
        return ""
    if rule.role in _CLOSED:
        values = _choices(rule)
        if not values or any(hosts.select(profile, (hook,), hook.event, value) for value in values):
            return ""
        others = [one.name for one in profile.events.values() if hook.matcher in _choices(one)]
        hint = f" (did you mean the event {others[0]}?)" if others else ""
        return f"its matcher `{hook.matcher}` fits none of {', '.join(values)}{hint}"
    if rule.target == "tool_name":
        return _no_tool(hook_set, hook)
    # Kinds of subagents have names of their own.
    event = hook.matcher if hook.matcher in profile.events else ""
    return (
        f"its matcher `{event}` is compared with `{rule.target}`, and is the name of an event"
        if event
        else ""
    )


def _choices(rule: hosts.EventRule) -> tuple[str, ...]:
    """Return all values that the target of an event's matchers can have, if they are known; else none."""
    field = next((one for one in rule.fields.fields if (one.source or one.name) == rule.target), None)
    return tuple(map(str, field.choices)) if field is not None else ()


def _no_tool(hook_set: HookSet, hook: Hook) -> str:
    profile, named = hosts.find(hook_set.host), matched_tools(hook_set, hook)
    known = known_tools(hook_set.host)
    unconditional = Hook(event=hook.event, matcher=hook.matcher)
    if not named or any(hosts.select(profile, (unconditional,), hook.event, tool) for tool in known):
        return ""
    if names := misnamed_tools(hook_set, hook):
        correct = "; ".join(f"`{name}` must be `{meant}`" for name, meant in names)
        return f"its matcher has the wrong case: {correct}"
    others = {name for other in hosts.known() if other.name != profile.name for name in usual_tools(other)}
    if {*named} <= others:
        own = ", ".join(sorted({*usual_tools(profile)}))
        return f"its matcher `{hook.matcher}` names tools of another host; those of {profile.name} are {own}"
    return ""


def _alternatives(matcher: str) -> Sequence[str]:
    """Return what stands between the bars of a matcher that are in no parentheses."""
    return re.sub(r"\([^()]*\)", lambda group: group[0].replace("|", "/"), matcher).split("|")


def find_expressions(hook_set: HookSet) -> Mapping[bool, Sequence[int]]:
    """
    Return the positions of the hooks, from 1, whose matchers are conditions and not names or patterns.

    They stand below whether the host takes the matcher to fit every tool; the others fit none.
    """
    profile, known = hosts.find(hook_set.host), known_tools(hook_set.host)
    found: dict[bool, list[int]] = {}
    for number, hook in enumerate(hook_set.hooks, 1):
        rule = profile.events.get(hook.event)
        written = [part for part in _alternatives(hook.matcher or "") if part]
        if rule is None or rule.target != "tool_name" or not written:
            continue
        if all(_NO_NAME.search(part) for part in written):
            matcher = Hook(event=hook.event, matcher=hook.matcher)
            fits = {bool(hosts.select(profile, (matcher,), hook.event, tool)) for tool in known}
            if len(fits) == 1:
                found.setdefault(fits.pop(), []).append(number)
    return found
