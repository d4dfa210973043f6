"""
Refusals of shell scripts that one program writes: without it on the PATH, nothing is refused.

Only scripts in which every refusal stands in the code that the program is given are named. They are left out
if they may notice in any way that the program is missing, or if another hook looks for it, as it may tell the
person. A script that names the program anywhere but at the start of a command may look for it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from pytest_hookharness.campaigns.arming.hook_roles import GATES, only_script
from pytest_hookharness.campaigns.check.lone_programs.program_questions import without_silent_questions
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    ShellScript,
    script_of,
    shell_script_of,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# The programs by which hooks read and answer.
TOOLS = ("jq", "python3")
# A refusal in JSON, in any way to write a key, and a status that refuses or may be one that does.
REFUSES_IN_JSON = re.compile(
    r"\b(?:decision|permissionDecision|permission|behavior)\\?[\"']?\s*[:=]\s*\\?[\"']?(?:block|deny|ask)\b"
    r"|\bfollowup_message\\?[\"']?\s*:"
)
_STATUS = re.compile(r"\b(?:exit|return)\s+(?:2\b|[\"$])|\bexit[ \t]*(?:$|[;)}])", re.MULTILINE)
# Another script may write the answer as well, or a trap knows what to do where a program fails.
_OTHERS = re.compile(
    r"^[ \t]*exec\s+(?!\d*[<>])|^[ \t]*trap\s[^\n]*\bERR\b"
    r"|^[ \t]*(?:(?:ba|z)?sh|node|bun|uv|npx|python3?)\s+(?:-\S+\s+)*[\"']?[$./\w]"
    r"|^[ \t]*\"?\$\{?\w+\}?(?:_*/|\"(?:[ \t]*$|[ \t]+[^=]))",
    re.MULTILINE,
)
# Whether a call is refused, or the person is only asked about it.
_ONLY_ASKS = re.compile(r"ask\b")
# Where a command begins, up to its first word.
_BEGINS = re.compile(
    r"(?:^|[\n;&|({`!]|(?<![\w$])(?:then|do|else|if|elif|while|until)[ \t])"
    r"[ \t]{0,80}(?:[A-Za-z_]\w{0,40}=[^\s;|&\"'$`]{0,40}[ \t]{1,9})?$"
)
_FIRST, _NEAR, _MOST = 100, 300, 40
_CONDITION = re.compile(r"(?:(?:^|[;&|])[ \t]*![ \t]|\b(?:if|elif|while|until)\b)[^\n;\[]*$")
# A call that only asks for the program, or a function of its name.
_NO_WORK = re.compile(r"[ \t]+--?(?:version|help|h|V)\b|[ \t]*\(")
# The rest of a list of commands.
_REST = re.compile(r"(?:[^\n\\|]|\\[\s\S]|\|[ \t]*\n?|\n[ \t]*(?=[)|&\"]))*")
# Statements after a call by which a script hides that it failed.
_SILENT = re.compile(
    r"(?:true|:|(?:exit|return)[ \t]+0)[ \t]*(?:[)}\n;\"]|$)"
    r"|echo[ \t]+(?:\"[^\"\n$`]{0,80}\"|'[^'\n]{0,80}'|[\w.-]{1,80})[ \t]*\)"
)
# What tells of a failure, or may bring the program or another of its name, or loads a check of it.
_NOTICES = re.compile(
    r"\btrap\b(?![ \t]+(?P<mark>['\"])rm[ \t](?:(?!(?P=mark))[^\n;&|])*(?P=mark))"
    r"|\bPATH\+?=|\balias[ \t]"
    r"|^[ \t]*(?:source|\.)[ \t]|&&[ \t]*(?:source|\.)[ \t]|\bexit[ \t]+(?![02]\b)\d",
    re.MULTILINE,
)
# Code that may do any of this; in quotes it is only a word that the script looks for.
_EVALUATES = re.compile(r"\beval[ \t]")
# The status of what ran last.
_LAST_STATUS = re.compile(r"\$\?|\bPIPESTATUS\b")
_ENDS_ON_ERRORS = re.compile(
    r"^(?:#!)?[^\n]*sh[ \t]+-\w*e|^[ \t]*set[ \t]+-\w*e|^[ \t]*set[ \t][^\n]*\berrexit\b", re.MULTILINE
)
_DECLARES = re.compile(r"\b(?:local|export|readonly|declare|typeset)\b[^\n;]*$")
_BOUND = re.compile(r"(?<!\w)([A-Za-z_]\w*)=[\"']?(?:\$\(|`)")
_EMPTY = re.compile(
    r"(?:-[zn][ \t]+|\bcase[ \t]+)[\"']?\$\{?(\w+)"
    r"|\$\{?(\w+)(?::-)?\}?[\"']?[ \t]+(?:!?={1,2}[ \t]+(?:\"\"|''|\"?null)|\])"
)
# The branch for an empty value only ends the script.
_LEAVES = re.compile(r"[^\n;&|]*(?:&&|;[ \t]*then|\n[ \t]*then)\s*(?:\{[ \t]*)?exit[ \t]+0\b")
# The arm of an empty value, and what follows it.
_ARM = re.compile(r"(?:\"\"|''|(?<![^\s|(])\*)[ \t]*\)((?:(?!;;|\besac\b)[\s\S]){0,300})")
_TOLD = re.compile(r">[ \t]*&2|/dev/(?:stderr|tty)|\b(?:osascript|notify-send|logger|systemMessage)\b")
# A default that is an error or an answer.
_DEFAULT = re.compile(r"\$\{\w+:?(?:\?|[-=][^\w}\n]{0,9}[{\\])")
_LINE_OF_TEST = re.compile(r"^[^\n]*(?:\|\||\b(?:if|elif|while|until)\b|![ \t])[^\n]*", re.MULTILINE)


def lone_answer(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook's script can refuse nothing; empty for none."""
    text = only_script(hook_set, hook, GATES)
    tool = only_answers_by(text)
    return tool if tool and not may_notice(hook_set, text, tool) else ""


def only_answers_by(text: str) -> str:
    """Return the program in whose code all refusals of a shell script stand; empty for none."""
    script = shell_script_of(text)
    if script is None or _STATUS.search(script.shown) or _OTHERS.search(script.shown):
        return ""
    refusals = [*REFUSES_IN_JSON.finditer(script.code)]
    if all(_ONLY_ASKS.search(found[0]) for found in refusals):
        return ""
    for tool in TOOLS:
        calls = [*calls_of(tool, script.code)]
        begins = [begin for begin, _ in calls]
        places = [(found.start(), bisect_left(begins, found.start()) - 1) for found in refusals]
        if all(before >= 0 and place < calls[before][1] for place, before in places):
            return tool
    return ""


def calls_of(tool: str, code: str) -> Iterator[tuple[int, int]]:
    """Yield the calls of a program in a shell script: where their words begin and end."""
    called, place = re.compile(rf"(?<![\w./$-]){tool}(?=[ \t\\])"), 0
    while found := called.search(code, place):
        place = _end_of_call(code, found.end())
        yield found.start(), place


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


def may_notice(hook_set: HookSet, text: str, tool: str) -> bool:
    """Return whether a hook may say that a program is missing: the script itself, or another one."""
    script = script_of(text)
    code = script.code
    if _NOTICES.search(code) or _looks_for(tool, code) or _tells_of_empty(tool, code):
        return True
    if _EVALUATES.search(script.shown) or _asks_for_status(tool, script):
        return True
    strict = any(_ENDS_ON_ERRORS.search(one) for one in (text, *(hook.command for hook in hook_set.hooks)))
    if _notices_failures(tool, code, strict=strict) or _tests_functions(tool, script):
        return True
    others = (without_comment_lines(other) for _, other in hook_set.sources if other != text)
    asking = (without_silent_questions(one) for one in others if tool in one)
    return any(_looks_for(tool, one) for one in (*asking, *(hook.command for hook in hook_set.hooks)))


def _looks_for(tool: str, code: str) -> bool:
    """Return whether a script names a program anywhere but at the start of a command that does its work."""
    for found in re.finditer(rf"(?<![\w.$-]){tool}(?![\w.-])", code):
        near = code[max(0, found.start() - _FIRST) : found.start()]
        works = code.startswith((" ", "\t", "\\"), found.end()) and not _NO_WORK.match(code, found.end())
        if not works or not _BEGINS.search(near):
            return True
    return False


def _notices_failures(tool: str, code: str, *, strict: bool) -> bool:
    """Return whether a script may notice that a call of a program fails, or ends there with an error."""
    for begin, end in calls_of(tool, code):
        near = code[max(code.rfind("\n", 0, begin) + 1, begin - _NEAR) : begin]
        rest = _REST.match(code, end, min(end + _NEAR, len(code)))
        behind = rest[0] if rest else ""
        if _CONDITION.search(near) or any(not _SILENT.match(one.lstrip()) for one in behind.split("||")[1:]):
            return True
        answers = REFUSES_IN_JSON.search(code, begin, end)
        if strict and not answers and "||" not in behind and not _DECLARES.search(near):
            return True
    return False


def _asks_for_status(tool: str, script: ShellScript) -> bool:
    """Return whether a script may look at the status of a program, also after one more line."""
    code, bodies = script.code, script.functions
    calls = [*calls_of(tool, code)]
    # A function may call the program, or be called after it.
    ends = [*(end for _, end in calls), *(begin for _, begin, _ in bodies)]
    for name, begin, end in bodies[:_MOST]:
        if any(begin <= place < end for place, _ in calls):
            called = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
            ends += [found.end() for found in called.finditer(code)]
    ends.sort()
    for found in _LAST_STATUS.finditer(code):
        last = bisect_left(ends, found.start()) - 1
        if last >= 0 and found.start() - ends[last] < _NEAR:
            lines = code[ends[last] : found.start()].split("\n")[1:-1]
            if sum(bool(line.strip()) for line in lines) <= 1:
                return True
    return False


def _tells_of_empty(tool: str, code: str) -> bool:
    """Return whether a script says something if a variable is empty that a program has given."""
    lines = (line for line in code.split("\n") if tool in line)
    names = {name for line in lines for name in _BOUND.findall(line)}
    return _DEFAULT.search(code) is not None or any(
        (found[1] or found[2]) in names and _tells_at(found, code) for found in _EMPTY.finditer(code)
    )


def _tells_at(test: re.Match[str], code: str) -> bool:
    """Return whether a script may say something where a variable that it looks at is empty."""
    if test[0].startswith("case"):
        end = code.find("esac", test.end())
        return any(
            _TOLD.search(arm[1]) for arm in _ARM.finditer(code, test.end(), end if end > 0 else len(code))
        )
    if _LEAVES.match(code, test.end(), test.end() + _NEAR):
        return False
    return _TOLD.search(code, test.end(), test.end() + _NEAR) is not None


def _tests_functions(tool: str, script: ShellScript) -> bool:
    """Return whether a script looks at the status of one of its functions that call a program."""
    names = {name for name, begin, end in script.functions if tool in script.code[begin:end]}
    lines = _LINE_OF_TEST.finditer(script.code) if names else ()
    return any(not names.isdisjoint(re.findall(r"[\w-]+", found[0])) for found in lines)
