"""
Guards that ask for the program by which they read their input, and end silently if it is missing.

Only a question outside of functions and conditions counts, in front of every refusal. Nothing is said if
another script of the project may tell the person that the program is missing. With status 0, some hosts show
standard error to nobody, so a warning there is no better than silence.
"""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_hookharness.campaigns.arming.hook_roles import GATES, only_script
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import calls_of
from pytest_hookharness.campaigns.check.lone_programs.lone_switches import can_refuse, refusals_of
from pytest_hookharness.campaigns.check.lone_programs.program_questions import (
    is_asked_for,
    questions_always_asked,
    without_silent_questions,
)
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    ShellScript,
    shell_script_of,
    without_comment_lines,
)
from pytest_hookharness.campaigns.stress.first_run import READERS
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# Code that stands in the script itself; a file may be the check for which the program is needed.
_OWN_CODE = re.compile(
    r"jq\b|\w+(?:[ \t]+-\w+)*?[ \t]+(?:-\w*e\b|-(?=[ \t\n])|<<)|\w+[ \t]*(?:\n|$)"
    r"|python3?(?:[ \t]+-\w+)*?[ \t]+-\w*c\b"
)
_LONGEST = 2000
# The hosts of which it is known that they drop standard error with status 0; others may show or list it.
_DROP_WARNINGS = frozenset({"claude-code", "codex"})
# A command or a script that sends standard error somewhere else.
_ELSEWHERE = re.compile(r"[12]?>&[12]|&>|2>|\|")
_REDIRECTED = re.compile(r"\bexec[ \t]+(?:\d*>|&>)|[)}][ \t]*(?:2>|&>)(?![ \t]*(?:/dev/null|&1))")
# Code that runs however the script ends.
_AT_THE_END = re.compile(r"\btrap\b[^\n]*\b(?:EXIT|0)\b")
# How code gets the input of the hook, not a file of the project.
_TAKES_INPUT = re.compile(r"stdin|STDIN|environ|process\.env|\bENV\b|readFileSync\([ \t]*0|/dev/fd/0|<>|<<<")
_NO_FILE = re.compile(
    r"jq\b(?:[ \t]+-\S+)*[ \t]+(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^\s'\"]+)"
    r"[ \t]*(?:2>[ \t]*\S+)?[ \t]*(?=[)|;&\n\"]|$)"
)


def silent_end(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the program without which a hook silently allows everything, and the line; or nothing."""
    return _end(hook_set, hook, warns=False)


def unheard_end(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the program without which a hook allows all after a warning that is lost, and the line."""
    return _end(hook_set, hook, warns=True) if _drops_warnings(hook_set, hook) else ("", 0)


def _end(hook_set: HookSet, hook: Hook, *, warns: bool) -> tuple[str, int]:
    text = only_script(hook_set, hook, GATES)
    if (warns and _REDIRECTED.search(text)) or _AT_THE_END.search(text):
        return ("", 0)
    tool, line = silent_question(text, warns=warns)
    return (tool, line) if tool and not is_asked_for(_as_heard(hook_set), tool) else ("", 0)


def silent_question(text: str, *, warns: bool = False) -> tuple[str, int]:
    """
    Return the program without which a script ends with 0 before it can refuse, and the line where it ends.

    The script ends silently; with ``warns``, after a warning on standard error. The result is an empty text
    and 0 if there is no such program.
    """
    script, brought = shell_script_of(text), set[str]()
    if script is None or not (places := [*refusals_of(script)]) or not can_refuse(script):
        return ("", 0)
    for one in questions_always_asked(script):
        # Another branch may bring the program.
        if not (one.leaves or one.warns):
            brought.add(one.tool)
        if one.tool in brought:
            continue
        ends = (one.warns if warns else one.leaves) and one.begin < min(places)
        if ends and one.tool in READERS and _is_used(one.tool, script, one.end):
            return one.tool, script.line_of(one.begin)
    return ("", 0)


def _drops_warnings(hook_set: HookSet, hook: Hook) -> bool:
    """Return whether nobody gets what a hook that ends with 0 writes to standard error."""
    return hook_set.host in _DROP_WARNINGS and not _ELSEWHERE.search(hook.command)


def _as_heard(hook_set: HookSet) -> HookSet:
    """Return the hooks with scripts that do not ask for programs whose lack they only warn nobody of."""

    def heard(path: str, text: str) -> str:
        hooks = hook_set.hooks_of(path)
        dropped = hooks and all(_drops_warnings(hook_set, one) for one in hooks)
        if not dropped or _REDIRECTED.search(text):
            return text
        return without_silent_questions(without_comment_lines(text), warnings=True)

    return replace(hook_set, sources=tuple((path, heard(path, text)) for path, text in hook_set.sources))


def _is_used(tool: str, script: ShellScript, begin: int) -> bool:
    """Return whether a script gives a program code of its own after a place, as to read the input."""
    code = script.code
    calls = (place for place, _ in calls_of(tool, code) if place >= begin)
    return any(
        script.shown.startswith(tool, place) and _OWN_CODE.match(code, place) and _takes_input(code, place)
        for place in calls
    )


def _takes_input(code: str, place: int) -> bool:
    """Return whether a program reads what it gets from the script, or the input of the hook."""
    line = code[code.rfind("\n", 0, place) + 1 : place]
    if line.rstrip().endswith("|") or _NO_FILE.match(code, place):
        return True
    return _TAKES_INPUT.search(code, place, place + _LONGEST) is not None
