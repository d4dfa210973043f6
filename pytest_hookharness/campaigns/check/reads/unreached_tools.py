"""
Branches of shell scripts for tools that no matcher of their hooks lets through, so that they never run.

Only a condition is named that is about nothing but the tool's name, and only for known tools of the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import is_of_tools
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.reads.other_starts import naming_scripts
from pytest_hookharness.campaigns.check.shell_code.script_parts import script_of
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT
from pytest_hookharness.campaigns.check.tool_names import known_tools
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_NAME = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)=\"?\$\([^\n]{0,200}?\btool_?[nN]ame\b[^\n]{0,80}\)\"?[ \t]*$",
    re.MULTILINE,
)
_COMPARED = r"\"?\$\{{?(?:{0})(?::-)?\}}?\"?[ \t]+==?[ \t]+[\"']?(?P<tool>[A-Za-z_]\w*)[\"']?"
_CONDITION = re.compile(
    r"^[ \t]*(?P<word>if|elif)[ \t]+(?P<words>\[[^\n;]*?)[ \t]*(?:;[ \t]*|\n[ \t]*)then\b", re.MULTILINE
)
# A branch that only leaves is a precaution.
_LEAVES = re.compile(r"\s*exit[ \t]+0\b")


def unreached_tools(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the tools of a branch that a hook's script never reaches, in words, and its line; or nothing."""
    sources = hook_set.sources_of(hook)
    if len(sources) != 1 or not SHELL_SCRIPT.match(sources[0][1]):
        return "", 0
    path, text = sources[0]
    hooks, profile = hook_set.hooks_of(path), hosts.find(hook_set.host)
    of_tools = all(is_of_tools(hook_set.host, one.event) for one in hooks)
    if not of_tools or any(named_hosts(hook_set.host, text)):
        return "", 0
    known = known_tools(hook_set.host)
    for tools, line in tool_branches(text):
        reached = any(hosts.select(profile, (one,), one.event, tool) for one in hooks for tool in tools)
        # Another script may start this one for other tools.
        if not reached and {*tools} & known and next(naming_scripts(hook_set, hook), None) is None:
            return ", ".join(f"`{tool}`" for tool in tools if tool in known), line
    return "", 0


def tool_branches(text: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the tools of each condition that only asks for the tool's name, with its line."""
    script = script_of(text)
    code = script.code
    names = {found["name"] for found in _NAME.finditer(code)}
    # A name that is assigned again may be another one.
    once = [name for name in names if len(re.findall(rf"(?<![\w$]){name}=", code)) == 1]
    compared = re.compile(_COMPARED.format("|".join(once)))
    for found in _CONDITION.finditer(code) if once else ():
        words = re.sub(r"\[\[?[ \t]|[ \t]\]\]?", " ", found["words"])
        parts = [part.strip() for part in words.split("||")]
        whole = [compared.fullmatch(part) for part in parts]
        leaves = _LEAVES.match(code, found.end())
        if all(whole) and not leaves and script.is_code(found.start("word")):
            tools = tuple(one["tool"] for one in whole if one)
            yield tools, script.line_of(found.start("words"))
