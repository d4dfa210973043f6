"""Paths that the shell splits at spaces, for they are not quoted, and those that ``xargs`` splits."""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.hook_program import known_variables
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import VARIABLE, Hook

# The text before a value that the shell does not split.
_UNSPLIT = re.compile(r"(?:(?:^|[\s;&|(])\w+=\S*|[<>]\s*|\[\[(?:(?!\]\]).)*)$", re.DOTALL)
_BY_PROGRAM = r"\$\((?:pwd|git rev-parse --show-toplevel(?: 2>/dev/null)?)\)"
_FOLDER = re.compile(rf"{VARIABLE.pattern}|{_BY_PROGRAM}|\$\{{\w+:-(?:{_BY_PROGRAM}|\$PWD|\$\{{PWD\}})\}}")
# The path of a tool call, filters, and options without which a line is not one word.
_SPLITS = re.compile(
    r"\bjq\b[^|\n]*\b(?:file_?[pP]ath|notebook_path|target_file)\b[^\n]{0,200}?"
    r"\|[ \t]*xargs(?P<options>(?:[ \t]+-[^\s|]+(?:[ \t]+(?:\d+|'[^'\n]*'))?)*)"
    r"[ \t]+(?P<program>[\w./][\w./-]*)"
)
# One word for each line: NUL, another mark between words, or a place for the whole line.
_KEEPS = re.compile(r"[ \t](?:-\w*[0dIi]|--(?:null|delimiter|replace))")


def splitting_xargs(hook_set: HookSet, hook: Hook) -> str:
    """Return the program to which a hook's ``xargs`` gives the words of a path; empty for none."""
    if hook.type != "command":
        return ""
    found = (one for text in hook_set.code_of(hook) for one in _SPLITS.finditer(text))
    return next((one["program"] for one in found if not _KEEPS.search(one["options"])), "")


def unquoted_paths(hook_set: HookSet, hook: Hook) -> list[re.Match[str]]:
    """
    Return the places of a command that give the project's or the plugin's folder and that the shell splits.

    Assignments, redirections and ``[[ ]]`` split nothing.
    """
    if hook.type != "command" or hook.args is not None:
        return []
    process, names = hosts.find(hook_set.host).process, {*known_variables(hook_set), "PWD", None}
    command, quote, found, place = hook.command, "", list[re.Match[str]](), 0
    while place < len(command):
        letter, before = command[place], command[:place]
        variable = None if quote else _FOLDER.match(command, place)
        if letter == "\\" and quote != "'":
            place += 1
        elif letter in "'\"" and quote in ("", letter):
            quote = "" if quote else letter
        elif letter == "#" and not quote and (not before or before[-1].isspace()):
            place = command.find("\n", place) if "\n" in command[place:] else len(command)
        elif variable and (variable[1] or variable[2]) in names and not _UNSPLIT.search(before):
            # Some hosts put quoted paths for `$NAME`, and none for `${NAME}`.
            found += [] if process.quotes_paths and variable[1] else [variable]
            place = variable.end() - 1
        place += 1
    return found
