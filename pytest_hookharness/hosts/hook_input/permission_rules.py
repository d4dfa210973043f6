"""
Permission rules such as ``Bash(git *)``, as Claude Code writes them for permissions and in ``if`` of a hook.

Claude Code documents, in late 2026, the table of commands that a rule for Bash fits, rules for `Edit` that
fit all tools which edit files, paths as Git ignores them, and exactly one rule in ``if``. Others report that
a list fits nothing.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase

from pytest_hookharness.model.protocol import Payload

_RULE = re.compile(r"\s*([^()\s]+)\s*(?:\((.*)\))?\s*", re.DOTALL)
# Another rule behind the end of one, or names in a list.
_SEVERAL = re.compile(
    r"\)(?:\s*[,|&]+\s*|\s+(?:(?:or|and)\s+)?)[A-Za-z_]\w*\s*(?:\(|$)|^[^()]*\w\s*[,|&\s]\s*\w[^()]*$",
    re.IGNORECASE,
)
_EDITS = frozenset(("Edit", "Write", "MultiEdit", "NotebookEdit"))
_PATHS, _OTHERS = ("file_path", "notebook_path", "path"), ("url", "pattern")
_ASSIGNMENT = re.compile(r"\w+=")
# What a shell puts in the place of a command's words, and the commands in it.
_EXPANDED = re.compile(r"\$\(|`|\$\{?\w")
_SUBSTITUTED = re.compile(r"\$\(([^()]*)\)|`([^`]*)`")
_PUNCTUATION = "();|&\n"


def names_several(condition: str) -> bool:
    """Return whether a condition lists several permission rules, so that the host takes none of them."""
    return _SEVERAL.search(condition.strip()) is not None


def covers(rule: str, tool: str, tool_input: Payload | None, folder: str = "") -> bool:
    """
    Return whether a permission rule covers a call; an unreadable one does.

    Args:
        folder: The one in which relative paths of the rule begin; empty for any.
    """
    parsed = _RULE.fullmatch(rule)
    if parsed is None:
        return not names_several(rule)
    name, pattern = parsed.groups()
    if name != tool and not (name == "Edit" and tool in _EDITS):
        return False
    if pattern is None or tool_input is None:
        return True
    if "command" in tool_input:
        return _covers_command(pattern, str(tool_input["command"]))
    paths = [str(tool_input[key]) for key in _PATHS if key in tool_input]
    others = [str(tool_input[key]) for key in _OTHERS if key in tool_input]
    if paths:
        return any(_covers_path(pattern, path, folder) for path in paths)
    return not others or any(fnmatchcase(one, pattern) for one in others)


def _covers_command(pattern: str, command: str) -> bool:
    # "git:*" is the older form of "git *".
    glob = re.sub(r":\*$", " *", pattern)
    try:
        parts = [*_parts(command)]
    except ValueError:
        # The host runs a hook if it does not understand the command.
        return True
    alone = glob.removesuffix(" *")
    if any(fnmatchcase(part, glob) or part == alone or part.startswith("$") for part in parts):
        return True
    only_name = alone.isalnum() or glob in ("*", "")
    return not only_name and _EXPANDED.search(command) is not None


def _parts(command: str) -> Iterator[str]:
    """Yield the simple commands of a command line, also those whose output is put into others."""
    for one, other in _SUBSTITUTED.findall(command):
        yield from _parts(one or other)
    lexer = shlex.shlex(command, posix=False, punctuation_chars=_PUNCTUATION)
    lexer.whitespace, lexer.commenters = " \t\r", ""
    words: list[str] = []
    for token in (*lexer, ";"):
        if token[0] not in _PUNCTUATION:
            words += [token] if words or not _ASSIGNMENT.match(token) else []
        elif words:
            yield " ".join(words)
            words = []


def _covers_path(pattern: str, path: str, folder: str) -> bool:
    if pattern.startswith("~"):
        # Nothing here knows the home of the person.
        return True
    if pattern.startswith("//"):
        return _as_git(pattern[1:]).fullmatch(path) is not None
    anchored = "/" in pattern.rstrip("/")
    begins = posixpath.join(folder, "") if folder else ""
    inside = path.removeprefix(begins) if path.startswith(begins) else path
    expression = _as_git(pattern.removeprefix("./").removeprefix("/"))
    if anchored and folder:
        return expression.fullmatch(inside) is not None
    # A name alone fits in each folder; so does a path, where nobody knows the folder.
    places = [inside, *(inside[place + 1 :] for place, letter in enumerate(inside) if letter == "/")]
    return any(expression.fullmatch(place) for place in places)


def _as_git(pattern: str) -> re.Pattern[str]:
    """Return the expression of a pattern for paths; what is below a folder that fits, fits too."""
    found: list[str] = []
    for part in re.split(r"(\*\*/|\*\*|\*|\?)", pattern):
        fixed = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
        found.append(fixed.get(part) or re.escape(part))
    return re.compile(f"{''.join(found)}(?:/.*)?", re.DOTALL)
