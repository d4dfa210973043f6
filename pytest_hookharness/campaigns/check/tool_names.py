"""
The names of tools in the matchers of hooks.

Nothing is said of a matcher with a name that nobody knows: the person may have added that tool.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import has_tool_matchers
from pytest_hookharness.campaigns.check import corpora
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import Edit, RunCommand
from pytest_hookharness.model.protocol import Hook

# In shorter names, one other letter may make another tool.
_SHORTEST = 5
_WITHOUT_TARGET = frozenset({hosts.Role.PROMPT, hosts.Role.STOP})
_CLOSED = frozenset({hosts.Role.SESSION_START, hosts.Role.BEFORE_COMPACT, hosts.Role.AFTER_COMPACT})
# What no tool's name contains: `tool == "Bash" && ...`, `Bash(git push:*)` and `Write(*.py)` do.
_NO_NAME = re.compile(r"\(\*|^\*\.\w|[\w/]\*\*|[\s\"'=&<>]|\(\w+[ :]")
NAME = re.compile(r"[A-Za-z_][\w-]*")
# The patterns for any word in a matcher. The last one as in a pattern of files: `mcp__*` happens to match the
# names that are meant.
_WILDCARD = re.compile(r"\[\^?[^]]*\][*+]?|\\w[*+]|\.[*+]\??|\(\?:|(?<=__)\*$")
# A matcher that says "each time".
_EVERYTHING = re.compile(r"\^?\(?(?:\.?[*+]?\??|\*\*)\)?\$?")
# Tools of agents that are no known host: Cline, and Windsurf.
_OF_CLINE = frozenset(["execute_command", "write_to_file", "replace_in_file", "apply_diff", "search_files"])
_OF_WINDSURF = frozenset(["run_command", "view_file", "replace_file_content", "multi_replace_file_content"])
_ALSO_SERVED = frozenset(["execute_command", "run_command", "search_files"])
_WORD = re.compile(r"[A-Za-z_][\w-]+")
_USUAL = (
    RunCommand(command="true"),
    Edit(file="f", text="t"),
    Edit(file="f", text="t", old="o"),
    corpora.READ,
)


def known_tools(host: str) -> frozenset[str]:
    """Return the known names of a host's tools."""
    profile = hosts.find(host)
    tools = profile.tools
    others = (*tools.gated, *tools.edits, *filter(None, (tools.subagent, tools.deletes)))
    matched = (name for rule in profile.events.values() for name in rule.tools)
    return frozenset({*usual_tools(profile), *others, *matched})


def all_tools() -> frozenset[str]:
    """Return the known tool names of all hosts."""
    # A plugin of pytest may make more hosts known.
    return _tools_of(tuple(profile.name for profile in hosts.known()))


@cache
def _tools_of(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(*map(known_tools, names))


def usual_tools(profile: hosts.Profile) -> Iterator[str]:
    """Yield the names of the tools that run commands and read and write files."""
    return (profile.tools.call(operation, "/w").name for operation in _USUAL)


def matched_tools(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """Return the tool names in the matcher of a hook."""
    if hook.matcher is None or not has_tool_matchers(hook_set.host, hook.event):
        return ()
    parts = (part.strip().strip("^$()") for part in re.split(r"[|,]", hook.matcher))
    return tuple(part for part in parts if NAME.fullmatch(part))


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


def misnamed_tools(hook_set: HookSet, hook: Hook) -> tuple[tuple[str, str], ...]:
    """Return the names in a matcher that are known tools in another spelling, each with that tool's name."""
    found = ((name, meant_tool(hook_set.host, name)) for name in matched_tools(hook_set, hook))
    return tuple((name, meant) for name, meant in found if meant)


def left_out(hook_set: HookSet, hook: Hook) -> tuple[tuple[str, str], ...]:
    """
    Return the tools that a matcher leaves out for their spelling while it fits others, as in misnamed_tools.

    A name that another host has may stand there for that host.
    """
    profile = hosts.find(hook_set.host)
    matcher = Hook(event=hook.event, matcher=hook.matcher)
    fitting = {one for one in known_tools(profile.name) if hosts.select(profile, (matcher,), hook.event, one)}
    found = misnamed_tools(hook_set, hook) if fitting else ()
    return tuple((name, meant) for name, meant in found if name not in all_tools() and meant not in fitting)


def meant_tool(host: str, name: str) -> str:
    """
    Return the known tool of a host that a name means in other letters; empty for none, and for its own name.

    The names differ in case, in hyphens and underscores, or in one letter that no tool of another host has.
    """
    known = sorted(known_tools(host))
    if name in known:
        return ""
    if same := next((one for one in known if plain(one) == plain(name)), ""):
        return same
    return "" if name in all_tools() else next((one for one in known if _is_slip(name, one)), "")


def _is_slip(name: str, meant: str) -> bool:
    """Return whether a name differs from a longer one in one letter: another, a missing, two exchanged."""
    if len(meant) < _SHORTEST or name == f"{meant}s" or meant == f"{name}s":
        return False
    differ = (place for place, letter in enumerate(name) if meant[place : place + 1] != letter)
    same = next(differ, len(name))
    one, other = name[same:], meant[same:]
    exchanged = one[:2] == other[1::-1] and one[2:] == other[2:]
    return one[1:] == other[1:] or one[1:] == other or one == other[1:] or exchanged


def plain(name: str) -> str:
    """Return a name without what its spellings may differ in: case, hyphens and underscores."""
    return re.sub("[_-]", "", name).casefold()


def is_ignored(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether the host ignores a matcher, because the event has nothing to compare it with."""
    profile = hosts.find(hook_set.host)
    rule, matcher = profile.events.get(hook.event), hook.matcher or ""
    if rule is None or rule.target or rule.role not in _WITHOUT_TARGET or not profile.matchers.untargeted:
        return False
    # The name of the event itself limits nothing.
    means_all = _EVERYTHING.fullmatch(matcher) or hook.event in re.split(r"[|,]\s*", matcher)
    return not means_all and matcher not in profile.matchers.everything


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
    if any(hosts.select(profile, (unconditional,), hook.event, tool) for tool in known):
        return ""
    words = {*_WORD.findall(hook.matcher or "")}
    # A server of the person's may have such a tool, below its own name.
    served = (
        f"{before}{name}" for name in words & _ALSO_SERVED for before in ("mcp__server__", "mcp_server_")
    )
    may_fit = any(hosts.select(profile, (unconditional,), hook.event, tool) for tool in served)
    if words and words <= _OF_CLINE | _OF_WINDSURF and not may_fit:
        own = ", ".join(sorted({*usual_tools(profile)}))
        return f"its matcher `{hook.matcher}` names tools of another agent; those of {profile.name} are {own}"
    if not named:
        return ""
    if names := misnamed_tools(hook_set, hook):
        correct = "; ".join(f"`{name}` must be `{meant}`" for name, meant in names)
        only_case = all(name.casefold() == meant.casefold() for name, meant in names)
        return f"its matcher {'has the wrong case' if only_case else 'misspells a tool'}: {correct}"
    if {*named} <= {*profile.events}:
        return f"its matcher `{hook.matcher}` is compared with names of tools, and names an event"
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
        written = [part for part in _alternatives(hook.matcher or "") if part]
        of_tools = has_tool_matchers(hook_set.host, hook.event)
        if of_tools and written and all(map(_NO_NAME.search, written)):
            matcher = Hook(event=hook.event, matcher=hook.matcher)
            fits = {bool(hosts.select(profile, (matcher,), hook.event, tool)) for tool in known}
            if len(fits) == 1:
                found.setdefault(fits.pop(), []).append(number)
    return found
