"""Paths that the shell splits at spaces, because they are not quoted."""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.hook_program import known_variables
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import VARIABLE, Hook

# The text before a value that the shell does not split.
_UNSPLIT = re.compile(r"(?:(?:^|[\s;&|(])\w+=\S*|[<>]\s*|\[\[(?:(?!\]\]).)*)$", re.DOTALL)
_FOLDER = re.compile(VARIABLE.pattern + r"|\$\(git rev-parse --show-toplevel(?: 2>/dev/null)?\)")


def unquoted_paths(hook_set: HookSet, hook: Hook) -> list[re.Match[str]]:
    """
    Return the places of a command that give the project's or the plugin's folder and that the shell splits.

    Assignments, redirections and ``[[ ]]`` split nothing.
    """
    if hook.type != "command" or hook.args is not None:
        return []
    process, names = hosts.find(hook_set.host).process, {*known_variables(hook_set), None}
    command, found, place = hook.command, list[re.Match[str]](), 0
    # The quote around a place, and those around each parenthesis that it is in; `$(` begins without one.
    quotes = [""]
    while place < len(command):
        letter = command[place]
        variable = None if quotes[-1] else _FOLDER.match(command, place)
        if letter == "\\" and quotes[-1] != "'":
            place += 1
        elif letter in "'\"" and quotes[-1] in ("", letter):
            quotes[-1] = "" if quotes[-1] else letter
        elif letter == "#" and not quotes[-1] and (not place or command[place - 1].isspace()):
            place = end if (end := command.find("\n", place)) >= 0 else len(command)
        elif variable and (variable[1] or variable[2]) in names and not _UNSPLIT.search(command[:place]):
            # Some hosts put quoted paths for `$NAME`, and none for `${NAME}`.
            found += [] if process.quotes_paths and variable[1] else [variable]
        elif letter == "(" and (not quotes[-1] or (quotes[-1] == '"' and command[place - 1] == "$")):
            quotes.append("")
        elif letter == ")" and not quotes[-1] and len(quotes) > 1:
            quotes.pop()
        place += 1
    return found
