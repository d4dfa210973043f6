"""
The names of tools that the scripts of hooks compare, and branches for tools that no matcher lets through.

Only comparisons that can mean nothing else are read: an equality, a test of a shell, a list of names, a case.
A branch is named only if its condition is about nothing but the tool's name, and if the host has the tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.project_texts import COMMENT_LINES
from pytest_hookharness.campaigns.check.answers.unread_answers import named_hosts
from pytest_hookharness.campaigns.check.reads.other_starts import naming_scripts
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, script_of
from pytest_hookharness.campaigns.check.static.session_variables import loaded_by
from pytest_hookharness.hosts.matcher_names import (
    NAME,
    all_tools,
    has_tool_matchers,
    known_tools,
    plain,
    usual_tools,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.moves import RunCommand
from pytest_hookharness.model.protocol import Hook

_NAMED = r"""["']?([A-Za-z_][\w-]*)\b"""
_QUOTED = re.compile(r"""(["'])([A-Za-z_][\w-]*)\1""")
_EQUAL = re.compile(
    rf"""tool_?name\b[^=!<>\n]{{0,12}}?[=!]==?\s*{_NAMED}(?![.(])"""
    rf"""|\[\s[^]\n]{{0,200}}tool_?name\b[^=!\]\n]{{0,6}}\s!?=\s*{_NAMED}["']?\s\]"""
    r"""|["']([A-Za-z_][\w-]*)["']\s*[=!]==?\s*[\w.$\["'(]{0,24}\btool_?name\b""",
    re.IGNORECASE,
)
_LISTED = re.compile(
    r"tool_?name\b[^=\n]{0,8}?\s(?:not\s+)?in\s*[(\[{]([^)\]}\n]*)"
    r"|\[([^\]\n]{0,500})\]\.includes\([\w.?$]*\btool_?name\b",
    re.IGNORECASE,
)
_SUBJECT = r"(?:(?!\sin\s)[^\n])*"
_CASE = re.compile(
    rf"\bcase\s{_SUBJECT}\btool_?name\b{_SUBJECT}\sin\s((?:(?!\bcase\b).)*?)\besac\b",
    re.IGNORECASE | re.DOTALL,
)
_PATTERNS = re.compile(r"""(?:^|;;|\n)\s*\(?([\w"'| -]+)\)""")
_FOLDS_CASE = re.compile(
    r"\.lower\(|\.upper\(|casefold|to_?(?i:lower|upper)|IGNORECASE|\(\?i|/i\b|nocasematch|downcase|,,\}"
    r"|:[lu]\}|\\[LU]"
    r"|\btr\s|(?:declare|typeset) -l"
)
# The object of which a name is a part.
_OWNER = re.compile(r"\b([A-Za-z_]\w*)(?:\?*\.)?(?:get\(|\[|(?<=\.))[\"']?\Z")
_NEAR = 60
# Tool names of Visual Studio Code's agent, which also reads Copilot CLI's hook files (documented).
VS_CODE_TOOLS: tuple[str, ...] = (
    "createFile", "create_file", "editFiles", "insert_edit_into_file", "readFile", "read_file",
    "replace_string_in_file", "multi_replace_string_in_file", "runCommands", "runInTerminal",
    "runTerminalCommand", "run_in_terminal",
)  # fmt: skip
_NAME = re.compile(
    r"(?<![\w$.-])(?P<name>[A-Za-z_]\w*)=\"?\$\([^\n]{0,200}?\btool_?[nN]ame\b[^\n]{0,80}\)\"?[ \t]*$",
    re.MULTILINE,
)
_COMPARED = r"\"?\$\{{?(?:{0})(?::-)?\}}?\"?[ \t]+==?[ \t]+[\"']?(?P<tool>[A-Za-z_]\w*)[\"']?"
_CONDITION = re.compile(
    r"^[ \t]*(?P<word>if|elif)[ \t]+(?P<words>\[[^\n;]*?)[ \t]*(?:;[ \t]*|\n[ \t]*)then\b", re.MULTILINE
)
# A branch that only ends the script is a precaution.
_LEAVES = re.compile(r"\s*exit[ \t]+0\b")


def foreign_tools(hook_set: HookSet, hook: Hook) -> tuple[str, ...]:
    """
    Return the tool names that a hook compares, if this host has none and another agent has one of them.

    Names that no host has may be tools that the person added, and prove nothing.
    """
    named = dict.fromkeys(name for _, names in _compared(hook_set, hook) for name in names)
    if {*map(plain, named)} & {*map(plain, known_tools(hook_set.host))}:
        return ()
    others = {plain(name) for profile in hosts.known() for name in usual_tools(profile)}
    others |= {*map(plain, VS_CODE_TOOLS)}
    return tuple(named) if others & {*map(plain, named)} else ()


def miscased_tool(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """
    Return a name that a hook compares with a tool's, and that tool's in its own spelling; or nothing.

    A script that also knows the right name, or that ignores case, compares well.
    """
    if not has_tool_matchers(hook_set.host, hook.event):
        return "", ""
    known = known_tools(hook_set.host)
    for text, names in _compared(hook_set, hook):
        if _FOLDS_CASE.search(text) or {*names} & known:
            continue
        for name in names:
            meant = next((one for one in known if plain(one) == plain(name)), "")
            # Another host may send the same name with other separators, and the script may be for both.
            is_meant = meant and (meant.casefold() == name.casefold() or name not in all_tools())
            if is_meant and not re.search(rf"""["'|(]{meant}["'|)]""", text):
                # What a library gives may be in other letters.
                loaded = (loaded_by(hook_set, one) for one in hook_set.scripts_of(hook))
                return ("", "") if any(map(_FOLDS_CASE.search, loaded)) else (name, meant)
    return "", ""


def other_shell(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """
    Return the name by which a hook knows the shell of another host, and that of this one; or nothing.

    The hook knows other tools of this host, so it is meant for it, and it would look at commands.
    """
    profile, shells = hosts.find(hook_set.host), _shells()
    own = _shell_of(profile)
    matcher = Hook(event=hook.event, matcher=hook.matcher)
    if not own or not hosts.select(profile, (matcher,), hook.event, own):
        return "", ""
    # Some hosts have events of their own for commands.
    if any("shell" in one.event.casefold() for one in hook_set.hooks):
        return "", ""
    for text, names in _compared(hook_set, hook):
        other = next((name for name in names if name in shells), "")
        if not other or not {*names} & (known_tools(hook_set.host) - shells):
            continue
        texts = (text, *(loaded_by(hook_set, one) for one in hook_set.scripts_of(hook)))
        if not any(re.search(rf"(?<![\w-]){own}(?![\w-])", one) or _FOLDS_CASE.search(one) for one in texts):
            return other, own
    return "", ""


@cache
def _shells() -> frozenset[str]:
    return frozenset(map(_shell_of, hosts.known()))


def _shell_of(profile: hosts.Profile) -> str:
    return profile.tools.call(RunCommand(command="true"), "/").name


def former_tool(hook_set: HookSet, hook: Hook) -> tuple[str, str]:
    """
    Return a former tool name that a hook compares with, and the current name; empty texts for none.

    A script that also has the current name, or a matcher without that tool, is left out.
    """
    profile = hosts.find(hook_set.host)
    if not has_tool_matchers(hook_set.host, hook.event):
        return "", ""
    matcher = Hook(event=hook.event, matcher=hook.matcher)
    for text, names in _compared(hook_set, hook):
        for name, now in profile.tools.former.items():
            fits = any(hosts.select(profile, (matcher,), hook.event, one) for one in (name, now))
            if name in names and fits and not re.search(rf"\b{now}\b", text):
                loaded = (loaded_by(hook_set, one) for one in hook_set.scripts_of(hook))
                return ("", "") if any(re.search(rf"\b{now}\b", one) for one in loaded) else (name, now)
    return "", ""


def _compared(hook_set: HookSet, hook: Hook) -> Iterator[tuple[str, list[str]]]:
    """Yield the command of a hook and its scripts, each with the names that it compares with a tool's."""
    for text in (COMMENT_LINES.sub("", one) for one in (hook.command, *hook_set.scripts_of(hook))):
        equal = (found for found in _EQUAL.finditer(text) if not _is_of_list(found, text))
        names = [name for found in equal for name in found.groups() if name]
        lists = (line for found in _LISTED.findall(text) for line in found)
        names += [name for line in lists for _, name in _QUOTED.findall(line)]
        patterns = (one for found in _CASE.findall(text) for one in _PATTERNS.findall(found))
        parts = (part.strip(" \"'") for one in patterns for part in one.split("|"))
        yield text, [*names, *(part for part in parts if NAME.fullmatch(part))]


def _is_of_list(found: re.Match[str], text: str) -> bool:
    """Return whether a name that is compared is that of an element of a list, such as a rule."""
    owner = _OWNER.search(text, max(0, found.start() - _NEAR), found.start())
    return bool(owner and re.search(rf"\bfor\b[^\n]*\b{owner[1]}\s+(?:in|of)\b", text))


def unreached_tools(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the tools of a branch that a hook's script never reaches, in words, and its line; or nothing."""
    sources = hook_set.sources_of(hook)
    if len(sources) != 1 or not SHELL_SCRIPT.match(sources[0][1]):
        return "", 0
    path, text = sources[0]
    hooks, profile = hook_set.hooks_of(path), hosts.find(hook_set.host)
    of_tools = all(has_tool_matchers(hook_set.host, one.event) for one in hooks)
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
