"""
This module is concerned with which hooks an event wakes.

Middle floor: hosts.
"""

from __future__ import annotations

import re
from collections.abc import Hashable
from fnmatch import fnmatchcase

from pytest_hookharness.hosts.events import EventRule
from pytest_hookharness.hosts.profile import MatcherRules, Profile
from pytest_hookharness.model.protocol import Hook, Payload

_CONDITION = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
_SUBJECTS = ("command", "file_path", "url", "pattern", "path")


def matches(rules: MatcherRules, matcher: str | None, target: str) -> bool:
    """
    Whether a matcher fits a target.
    """
    if matcher is None or matcher in rules.everything:
        return True
    if re.fullmatch(rules.plain, matcher):
        return target in (name.strip() for name in re.split(rules.separators, matcher))
    # The host's regular expressions write named groups without the P.
    pattern = re.sub(r"\(\?<(?![=!])", "(?P<", matcher)
    try:
        found = re.fullmatch(pattern, target) if rules.anchored else re.search(pattern, target)
    except re.error:
        return False
    return found is not None


def select(
    profile: Profile,
    hooks: tuple[Hook, ...],
    event: str,
    target: str,
    *,
    tool_input: Payload | None = None,
) -> tuple[Hook, ...]:
    """
    The hooks that an event wakes, each once, in the order of configuration.
    """
    rule = profile.events[event]
    chosen: dict[Hashable, Hook] = {}
    for place, hook in enumerate(hooks):
        if hook.event != event:
            continue
        if rule.target and not matches(profile.matchers, hook.matcher, target):
            continue
        if not _conditioned(rule, hook, target, tool_input):
            continue
        chosen.setdefault(_identity(hook) if profile.config.deduplicates else place, hook)
    return tuple(chosen.values())


def _identity(hook: Hook) -> Hashable:
    runs = tuple(str(hook.options.get(key)) for key in ("prompt", "url", "server", "tool", "shell", "if"))
    return hook.type, hook.command, hook.args, hook.env.get("CLAUDE_PLUGIN_ROOT"), runs


def _conditioned(rule: EventRule, hook: Hook, target: str, tool_input: Payload | None) -> bool:
    condition = hook.options.get("if")
    if not isinstance(condition, str):
        return True
    if rule.target != "tool_name":
        return False
    return covers(condition, target, tool_input)


def covers(rule: str, tool: str, tool_input: Payload | None) -> bool:
    """
    Whether a permission rule such as ``Bash(git *)`` speaks of a call; one that cannot be read does.
    """
    parsed = _CONDITION.fullmatch(rule)
    if parsed is None:
        return True
    name, pattern = parsed.groups()
    if name != tool:
        return False
    if pattern is None or tool_input is None:
        return True
    glob = re.sub(r":\*$", "*", pattern)
    subjects = [tool_input[key] for key in _SUBJECTS if key in tool_input]
    return not subjects or any(fnmatchcase(str(subject), glob) for subject in subjects)
