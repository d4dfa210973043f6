"""The tools that the matchers of hooks name: those to call, those left out, and matchers that name none."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_hookharness import hosts
from pytest_hookharness.hosts.matcher_names import (
    NAME,
    all_tools,
    has_tool_matchers,
    known_tools,
    meant_tool,
    misnamed_tools,
    never_matches,
    usual_tools,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_WITHOUT_TARGET = frozenset({hosts.Role.PROMPT, hosts.Role.STOP})
# What no tool's name contains: `tool == "Bash" && ...`, `Bash(git push:*)` and `Write(*.py)` do.
_NO_NAME = re.compile(r"\(\*|^\*\.\w|[\w/]\*\*|[\s\"'=&<>]|\(\w+[ :]")
# The patterns for any word in a matcher. The last one as in a pattern of files: `mcp__*` happens to match the
# names that are meant.
_WILDCARD = re.compile(r"\[\^?[^]]*\][*+]?|\\w[*+]|\.[*+]\??|\(\?:|(?<=__)\*$")
# A matcher that says "each time".
_EVERYTHING = re.compile(r"\^?\(?(?:\.?[*+]?\??|\*\*)\)?\$?")


def called_tools(hook_set: HookSet) -> tuple[str, ...]:
    """
    Return names of tools for which hooks wait and that a usual session does not call, each once.

    A matcher that is a regular expression stands for one name that it matches.
    """
    profile = hosts.find(hook_set.host)
    usual = {*usual_tools(profile)}
    found: list[str] = []
    for hook in hook_set.hooks:
        if hook.matcher is None or not has_tool_matchers(hook_set.host, hook.event):
            continue
        for part in re.split(r"[|,]", hook.matcher.strip("^$()")):
            name = _WILDCARD.sub("sample", part.strip().strip("^$()"))
            # A known name in another spelling matches nothing; `misnamed_tools` is about those.
            is_name = bool(NAME.fullmatch(name)) and not meant_tool(hook_set.host, name)
            if is_name and name not in usual and hosts.select(profile, (hook,), hook.event, name):
                found.append(name)
    return tuple(dict.fromkeys(found))


def left_out(hook_set: HookSet, hook: Hook) -> tuple[tuple[str, str], ...]:
    """
    Return the tools that a matcher leaves out for their spelling while it fits others, as in misnamed_tools.

    A name that another host has may stand there for that host.
    """
    profile = hosts.find(hook_set.host)
    matcher = Hook(event=hook.event, matcher=hook.matcher)
    fitting = {one for one in known_tools(profile.name) if hosts.select(profile, (matcher,), hook.event, one)}
    may_fit = fitting or not never_matches(hook_set.host, hook)
    found = misnamed_tools(hook_set.host, hook) if may_fit else ()
    return tuple((name, meant) for name, meant in found if name not in all_tools() and meant not in fitting)


def is_ignored(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether the host ignores a matcher, because the event has nothing to compare it with."""
    profile = hosts.find(hook_set.host)
    rule, matcher = profile.events.get(hook.event), hook.matcher or ""
    if rule is None or rule.target or rule.role not in _WITHOUT_TARGET or not profile.matchers.untargeted:
        return False
    # The name of the event itself limits nothing.
    means_all = _EVERYTHING.fullmatch(matcher) or hook.event in re.split(r"[|,]\s*", matcher)
    return not means_all and matcher not in profile.matchers.everything


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
        written = [part for part in _alternatives(hook.matcher or "") if part]
        of_tools = has_tool_matchers(hook_set.host, hook.event)
        if of_tools and written and all(map(_NO_NAME.search, written)):
            matcher = Hook(event=hook.event, matcher=hook.matcher)
            fits = {bool(hosts.select(profile, (matcher,), hook.event, tool)) for tool in known}
            if len(fits) == 1:
                found.setdefault(fits.pop(), []).append(number)
    return found
