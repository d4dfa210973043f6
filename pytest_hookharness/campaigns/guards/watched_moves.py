"""The moves that the hooks of a hook set see: others would only cost time where guards are tried."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import BEFORE_CALLS, role_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit, Read, RunCommand
from pytest_hookharness.model.protocol import Hook

# How a script refuses.
_REFUSES = re.compile(
    r"\bexit\(?\s*2\b|\b(?:block|deny|ask)|exitCode\s*=\s*2|\bdecision\b|[\"']continue[\"']|\bcontinue:"
)


def is_asked_before(host: str, event: str) -> bool:
    """Return whether hooks of an event run before a tool call."""
    return role_of(host, event) in BEFORE_CALLS


def may_refuse(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether a hook may refuse calls: a single script without words for that only does other work."""
    texts = hook_set.scripts_of(hook)
    return len(texts) != 1 or _REFUSES.search(texts[0]) is not None


def is_asked_about(hook_set: HookSet, command: str, tool: str) -> bool:
    """Return whether a hook, by its command, runs before the calls of a tool."""
    profile = hosts.find(hook_set.host)
    return any(
        hook.command == command
        and is_asked_before(hook_set.host, hook.event)
        and _fits(profile, profile.events[hook.event], hook, tool)
        for hook in hook_set.hooks
    )


def watched(hook_set: HookSet, move: RunCommand | Edit | Read) -> RunCommand | Edit | Read | None:
    """Return a move before whose call a hook runs; after it, if no hook runs before calls; else ``None``."""
    profile = hosts.find(hook_set.host)
    events = [(profile.events[hook.event], hook) for hook in hook_set.hooks if hook.event in profile.events]
    before = [(rule, hook) for rule, hook in events if rule.role in BEFORE_CALLS]
    asked = before or [(rule, hook) for rule, hook in events if rule.role is hosts.Role.AFTER_TOOL]
    # Hosts have another tool for a passage than for a whole file.
    ways = [move, replace(move, old="old")] if isinstance(move, Edit) else [move]
    for way in ways:
        name = profile.tools.call(way, "/w").name
        if any(_fits(profile, rule, hook, name) for rule, hook in asked):
            return way
    return None


def _fits(profile: hosts.Profile, rule: hosts.EventRule, hook: Hook, tool: str) -> bool:
    if rule.tools and tool not in rule.tools:
        return False
    unconditional = Hook(event=hook.event, matcher=hook.matcher)
    return rule.target != "tool_name" or bool(hosts.select(profile, (unconditional,), hook.event, tool))
