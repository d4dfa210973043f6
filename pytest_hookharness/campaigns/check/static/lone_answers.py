"""
Refusals of shell scripts that one program writes: without it on the PATH, everything is allowed.

Only scripts in which every refusal stands in the code that the program is given are named. They are left out
if they say that the program is missing, or if another hook asks for it, as it may tell the person.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.static.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

_GATES = frozenset(
    [
        hosts.Role.BEFORE_TOOL,
        hosts.Role.PERMISSION,
        hosts.Role.PROMPT,
        hosts.Role.STOP,
        hosts.Role.SUBAGENT_STOP,
    ]
)
_TOOLS = ("jq", "python3")
_COMMENT = re.compile(r"^[ \t]*#[^\n]*", re.MULTILINE)
# A refusal in JSON, in any way to write a key, and a status that refuses or may be one that does.
REFUSES_IN_JSON = re.compile(
    r"\b(?:decision|permissionDecision|permission|behavior)\\?[\"']?\s*[:=]\s*\\?[\"']?(?:block|deny|ask)\b"
)
_STATUS = re.compile(r"\b(?:exit|return)\s+(?:2\b|[\"$])|\bexit[ \t]*(?:$|[;)}])", re.MULTILINE)
# Another script may write the answer as well, or a trap knows what to do where a program fails.
_OTHERS = re.compile(
    r"^[ \t]*exec\s+(?!\d*[<>])|^[ \t]*trap\s[^\n]*\bERR\b"
    r"|^[ \t]*(?:(?:ba|z)?sh|node|bun|uv|npx|python3?)\s+(?:-\S+\s+)*[\"']?[$./\w]"
    r"|^[ \t]*\"?\$\{?\w+\}?(?:_*/|\"(?:[ \t]*$|[ \t]+[^=]))",
    re.MULTILINE,
)
# A value that a program alone gives, and what a script does without it, at its left edge.
_SWITCH = re.compile(
    r"^[ \t]*(?P<name>[A-Za-z_]\w*)=\"?\$\((?:[^\n|&]*\|[ \t]*)?(?P<tool>jq|python3)\b[^\n|&]*"
    r"(?:\|\|[ \t]*true[ \t]*)?\)\"?[ \t]*$",
    re.MULTILINE,
)
_OFF = (
    r"^(?:if[ \t]+)?\[\[?[ \t]+\"?\$\{{?{0}\}}?\"?[ \t]+!=[ \t]+[\"']?\w+[\"']?[ \t]+\]\]?[ \t]*"
    r"(?:&&|;[ \t]*then|\n[ \t]*then)\s*(?:\{{[ \t]*)?exit[ \t]+0\b"
)
_REFUSES = re.compile(r"\b(?:exit|return)[ \t]+(?:2\b|[\"$])")
_ASKED = r"\b(?:command\s+-[vV]|which|type|hash)\s+(?:-\w+\s+)?[\"']?{0}\b"
# It ends then, and says nothing.
_SILENTLY = (
    _ASKED
    + r"[^\n;|{{]*\|\|\s*(?:\{{\s*)?exit\s+0\b|\bif\s+!\s+"
    + _ASKED
    + r"[^\n;|]*(?:;|\n)\s*then\s+exit\s+0\b"
)
_LISTED = r"\bfor\s+\w+\s+in\b[^\n;]*\b{0}\b|\b\w*(?:require|need|check|ensure)_\w*\s+[^\n;|]*\b{0}\b"


def lone_answer(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook's script can refuse nothing; empty for none."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    texts = hook_set.scripts_of(hook)
    if rule is None or rule.role not in _GATES or hook.type != "command" or len(texts) != 1:
        return ""
    tool = only_answers_by(texts[0])
    return tool if tool and not _is_told(hook_set, texts[0], tool) else ""


def lone_switch(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook's script allows every stop at once; empty for none."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    texts = hook_set.scripts_of(hook)
    if rule is None or rule.role is not hosts.Role.STOP or hook.type != "command" or len(texts) != 1:
        return ""
    tool = only_switched_by(texts[0])
    return tool if tool and not _is_told(hook_set, texts[0], tool) else ""


def only_switched_by(text: str) -> str:
    """Return the program that alone gives the value without which a shell script allows the stop at once."""
    code, shown = without_comments(text), code_of(text)
    refusals = (
        [*_REFUSES.finditer(shown), *REFUSES_IN_JSON.finditer(code)] if SHELL_SCRIPT.match(text) else []
    )
    before = code[: min((found.start() for found in refusals), default=0)]
    for found in _SWITCH.finditer(before):
        name = found["name"]
        once = len(re.findall(rf"(?<![\w$.-]){name}\+?=", code)) == 1
        if once and re.search(_OFF.format(name), before[found.end() :], re.MULTILINE):
            return found["tool"]
    return ""


def only_answers_by(text: str) -> str:
    """Return the program in whose code all refusals of a shell script stand; empty for none."""
    if not SHELL_SCRIPT.match(text):
        return ""
    code, shown = without_comments(text), code_of(text)
    if _STATUS.search(shown) or _OTHERS.search(shown):
        return ""
    refusals = [found.start() for found in REFUSES_IN_JSON.finditer(code)]
    for tool in _TOOLS if refusals else ():
        calls = [*_calls_of(tool, code)]
        if all(any(begin < place < end for begin, end in calls) for place in refusals):
            return tool
    return ""


def without_comments(text: str) -> str:
    """Return a script of the same length, with blanks for the lines that are comments."""
    return _COMMENT.sub(lambda found: " " * len(found[0]), text)


def _calls_of(tool: str, code: str) -> Iterator[tuple[int, int]]:
    """Yield the calls of a program in a shell script: where their words begin and end."""
    for found in re.finditer(rf"(?<![\w./$-]){tool}(?=[ \t\\])", code):
        end = _end_of_call(code, found.end())
        yield found.start(), end


def _end_of_call(code: str, place: int) -> int:
    """Return the end of a simple command, which quoted line ends do not end."""
    quote = ""
    while place < len(code):
        letter = code[place]
        if letter == "\\" and quote != "'":
            place += 1
        elif quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"":
            quote = letter
        elif letter in "\n;&|)":
            break
        place += 1
    return place


def _is_told(hook_set: HookSet, text: str, tool: str) -> bool:
    """Return whether a hook says that a program is missing: the script itself, or another one."""
    code = without_comments(text)
    asked, silent = _ASKED.format(tool), _SILENTLY.format(tool)
    if len(re.findall(asked, code)) != len(re.findall(silent, code)) or re.search(_LISTED.format(tool), code):
        return True
    others = (without_comments(other) for _, other in hook_set.sources if other != text)
    return any(re.search(f"{asked}|{_LISTED.format(tool)}", other) for other in others)
