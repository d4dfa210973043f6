"""
Matchers that fit nothing: tools in another spelling or of another host, and values that an event never has.

Nothing is said of a matcher with a name that nobody knows: the person may have added that tool.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cache

from pytest_hookharness.hosts import catalogue
from pytest_hookharness.hosts.hook_input.launch import select
from pytest_hookharness.hosts.hook_input.permission_rules import names_several
from pytest_hookharness.hosts.rules.profile import EventRule, Profile
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.moves import Edit, Read, RunCommand
from pytest_hookharness.model.protocol import Hook, SettingsProblem

# In shorter names, one other letter may make another tool.
_SHORTEST = 5
_CLOSED = frozenset({Role.SESSION_START, Role.BEFORE_COMPACT, Role.AFTER_COMPACT})
NAME = re.compile(r"[A-Za-z_][\w-]*")
# Tools of agents that are no known host: Cline, and Windsurf.
_OF_CLINE = frozenset(["execute_command", "write_to_file", "replace_in_file", "apply_diff", "search_files"])
_OF_WINDSURF = frozenset(["run_command", "view_file", "replace_file_content", "multi_replace_file_content"])
_ALSO_SERVED = frozenset(["execute_command", "run_command", "search_files"])
# Several hosts have it, though not all of their profiles list it.
_OF_SEVERAL = frozenset(["apply_patch"])
_WORD = re.compile(r"[A-Za-z_][\w-]+")
_USUAL = (
    RunCommand(command="true"),
    Edit(file="f", text="t"),
    Edit(file="f", text="t", old="o"),
    Read(file="notes.txt"),
)


def find_unmatched(profile: Profile, hooks: Sequence[Hook]) -> tuple[SettingsProblem, ...]:
    """
    Return a problem for each hook that never runs, because its matcher misspells the tools that it names.

    In a scenario this is an error, so matchers that may be meant for another host are left out.
    """
    found = ((hook, _of_spelling(profile, hook)) for hook in hooks)
    return tuple(
        SettingsProblem(
            "never-matches",
            hook.source,
            "",
            f"the {hook.event} hook `{hook.command}` never runs, because {why}.",
            profile.matchers.rule,
        )
        for hook, why in found
        if why
    )


def _of_spelling(profile: Profile, hook: Hook) -> str:
    """Return how a matcher misspells all that it names; empty if it may fit something."""
    if hook.foreign or _has_patterns(profile.id, hook) or _fits(profile, hook, known_tools(profile.id)):
        return ""
    return _misspelt(profile.id, hook)


def known_tools(host: str) -> frozenset[str]:
    """Return the known names of a host's tools."""
    profile = catalogue.find(host)
    tools = profile.tools
    others = (*tools.gated, *tools.edits, *filter(None, (tools.subagent, tools.deletes)))
    matched = (name for rule in profile.events.values() for name in rule.tools)
    return frozenset({*usual_tools(profile), *others, *matched})


def all_tools() -> frozenset[str]:
    """Return the known tool names of all hosts."""
    # A plugin of pytest may make more hosts known.
    return _tools_of(tuple(profile.name for profile in catalogue.known()))


@cache
def _tools_of(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset[str]().union(*map(known_tools, names))


def usual_tools(profile: Profile) -> Iterator[str]:
    """Yield the names of the tools that run commands and read and write files."""
    return (profile.tools.call(operation, "/w").name for operation in _USUAL)


def matched_tools(host: str, hook: Hook) -> tuple[str, ...]:
    """Return the tool names in the matcher of a hook."""
    if hook.matcher is None or not has_tool_matchers(host, hook.event):
        return ()
    parts = (part.strip().strip("^$()") for part in re.split(r"[|,]", hook.matcher))
    return tuple(part for part in parts if NAME.fullmatch(part))


def misnamed_tools(host: str, hook: Hook) -> tuple[tuple[str, str], ...]:
    """Return the names in a matcher that are known tools in another spelling, each with that tool's name."""
    found = ((name, meant_tool(host, name)) for name in matched_tools(host, hook))
    return tuple((name, meant) for name, meant in found if meant)


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


def never_matches(host: str, hook: Hook) -> str:
    """Return why a hook's matcher or condition fits nothing; empty if it may fit something."""
    profile = catalogue.find(host)
    rule = profile.events.get(hook.event)
    # A host that reads the settings of another one may know the names of its tools.
    if rule is None or hook.foreign:
        return ""
    key = profile.matchers.condition
    condition = hook.options.get(key) if key else None
    if isinstance(condition, str) and rule.target != "tool_name":
        return f"its `{key}` is about tools, and {hook.event} has none"
    if isinstance(condition, str) and names_several(condition):
        return f"its `{key}` holds several permission rules, and {host} takes exactly one"
    if not hook.matcher or not rule.target:
        return ""
    if rule.role in _CLOSED:
        values = _choices(rule)
        if not values or any(select(profile, (hook,), hook.event, value) for value in values):
            return ""
        others = [one.name for one in profile.events.values() if hook.matcher in _choices(one)]
        hint = f" (did you mean the event {others[0]}?)" if others else ""
        return f"its matcher `{hook.matcher}` fits none of {', '.join(values)}{hint}"
    if rule.target == "tool_name":
        return _no_tool(host, hook)
    # Kinds of subagents have names of their own.
    event = hook.matcher if hook.matcher in profile.events and "agent" in rule.target else ""
    return (
        f"its matcher `{event}` is compared with `{rule.target}`, and is the name of an event"
        if event
        else ""
    )


def _choices(rule: EventRule) -> tuple[str, ...]:
    """Return all values that the target of an event's matchers can have, if they are known; else none."""
    field = next((one for one in rule.fields.fields if (one.source or one.name) == rule.target), None)
    return tuple(map(str, field.choices)) if field is not None else ()


def _no_tool(host: str, hook: Hook) -> str:
    profile, named = catalogue.find(host), matched_tools(host, hook)
    known = known_tools(host)
    if _fits(profile, hook, known):
        return ""
    words = {*_WORD.findall(hook.matcher or "")}
    # A server of the person's may have such a tool, below its own name.
    served = (
        f"{before}{name}" for name in words & _ALSO_SERVED for before in ("mcp__server__", "mcp_server_")
    )
    own_too = known & (_OF_CLINE | _OF_WINDSURF)
    if words and not own_too and words <= _OF_CLINE | _OF_WINDSURF and not _fits(profile, hook, served):
        own = ", ".join(sorted({*usual_tools(profile)}))
        return f"its matcher `{hook.matcher}` names tools of another agent; those of {profile.name} are {own}"
    if not named or _has_patterns(host, hook):
        return ""
    all_others = (other for other in catalogue.known() if other.name != profile.name)
    others = {name for other in all_others for name in usual_tools(other)} - _OF_SEVERAL
    # A name that nobody knows may be that of a tool, which starts the hook.
    if names := _misspelt(host, hook, others):
        return names
    if {*named} <= {*profile.events}:
        return f"its matcher `{hook.matcher}` is compared with names of tools, and names an event"
    # Where a part of a name suffices, a plain word such as `edit` fits the tools of many servers.
    if _fits(profile, hook, (f"mcp__server__{name}_x" for name in named if name.islower())):
        return ""
    if {*named} <= others:
        own = ", ".join(sorted({*usual_tools(profile)}))
        return f"its matcher `{hook.matcher}` names tools of another host; those of {profile.name} are {own}"
    return ""


def _fits(profile: Profile, hook: Hook, names: Iterable[str]) -> bool:
    """Return whether a matcher fits one of some names, whatever the condition of its hook."""
    unconditional = Hook(event=hook.event, matcher=hook.matcher)
    return any(select(profile, (unconditional,), hook.event, name) for name in names)


def _has_patterns(host: str, hook: Hook) -> bool:
    """Return whether a part of a matcher is no name; such a pattern may fit a tool that nobody knows here."""
    return len(matched_tools(host, hook)) < len(re.split(r"[|,]", hook.matcher or ""))


def _misspelt(host: str, hook: Hook, others: Collection[str] = ()) -> str:
    """Return how a matcher writes known tools, if it names nothing else but tools of others; else nothing."""
    names = misnamed_tools(host, hook)
    if not names or not {*matched_tools(host, hook)} <= {name for name, _ in names} | {*others}:
        return ""
    correct = "; ".join(f"`{name}` must be `{meant}`" for name, meant in names)
    only_case = all(name.casefold() == meant.casefold() for name, meant in names)
    return f"its matcher {'has the wrong case' if only_case else 'misspells a tool'}: {correct}"


def has_tool_matchers(host: str, event: str) -> bool:
    """Return whether matchers at an event are compared with names of tools."""
    rule = catalogue.find(host).events.get(event)
    return rule is not None and rule.target == "tool_name"
