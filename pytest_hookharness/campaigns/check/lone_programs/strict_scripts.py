"""
Strict shell scripts (`set -e`) that end with an error where a program is missing, before they can refuse.

Only a plain assignment at the left edge counts, in front of every refusal. Nothing is said if the script may
notice that the program is missing before, or if any other script of the project asks for the program.
"""

from __future__ import annotations

import re

from pytest_hookharness.campaigns.arming.hook_roles import GATES, only_script
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import REFUSES_IN_JSON, TOOLS
from pytest_hookharness.campaigns.check.lone_programs.lone_switches import can_refuse, refusals_of
from pytest_hookharness.campaigns.check.lone_programs.program_questions import is_asked_for
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import (
    LOADS,
    ShellScript,
    loaded_texts,
    shell_script_of,
)
from pytest_hookharness.campaigns.check.shell_code.shell_wrappers import wrapping_functions
from pytest_hookharness.campaigns.check.static.ended_searches import PIPEFAIL, STRICT
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# What the script may do where a program fails, or where the program may come from.
_MAY_NOTICE = re.compile(r"^[ \t]*(?:trap|alias|eval|exec)\b|\bset[ \t]+\+\w*e|\bPATH=", re.MULTILINE)
_OWN = r"^[ \t]*(?:function[ \t]+)?{0}[ \t]*\(\)"
_REFUSES = re.compile(r"\b(?:exit|return)[ \t]+(?:2\b|[\"$])")
# The value of a plain assignment, up to the program and after it.
_ASSIGNED = (
    r"^[A-Za-z_]\w*=\"?\$\((?P<before>[^\n;&]{{0,200}}?(?:\|[ \t]*(?:\n[ \t]*)?)?)(?<![\w./$-]){0}[ \t]"
)
_BEHIND = re.compile(
    r"(?:'[^']*'|\"(?:[^\"\\]|\\.)*\"|[^'\"\n;|&)]|\\\n|\|(?!\|)(?:[ \t]*\n)?)*\)\"?[ \t]*$", re.MULTILINE
)
# An assignment of what a function prints.
_CALLED = r"^[A-Za-z_]\w*=\"?\$\((?:{0})(?:[ \t]+[^\n|&;()]*)?\)\"?[ \t]*$"
_OPENS = re.compile(r"^[ \t]*(?:if|case|for|while|until)\b|[{(][ \t]*$", re.MULTILINE)
_CLOSES = re.compile(r"(?:^[ \t]*|;[ \t]*)(?:fi|esac|done)\b|^[ \t]*[)}]", re.MULTILINE)


def ends_without(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the program without which a hook's script ends with an error, and the line; or nothing."""
    text = only_script(hook_set, hook, GATES)
    # The command decides what an error of the script means.
    if "||" in hook.command:
        return ("", 0)
    tool, line = failing_call(text, [*loaded_texts(hook_set, text)])
    return (tool, line) if tool and not is_asked_for(hook_set, tool) else ("", 0)


def failing_call(text: str, loaded: list[str]) -> tuple[str, int]:
    """Return the program that a strict script calls before it can refuse, and the line; or nothing."""
    script = shell_script_of(text)
    if script is None or len(LOADS.findall(script.shown)) > len(loaded):
        return ("", 0)
    code, shown = script.code, script.shown
    answers = [*REFUSES_IN_JSON.finditer(code)]
    # If the script would only ask a person, nothing is lost: the host asks as well.
    answers = answers if any(not one[0].endswith("ask") for one in answers) else []
    refusals = [one.start() for one in (*answers, *_REFUSES.finditer(shown))]
    strict = STRICT.search(shown)
    if (
        not refusals
        or strict is None
        or not can_refuse(script)
        or any(_MAY_NOTICE.search(one) for one in loaded)
    ):
        return ("", 0)
    found = [(one, tool) for tool in TOOLS if (one := _first_call(tool, script, strict.end()))]
    if not found:
        # Refusals in functions count where these are called.
        refusals = [*refusals_of(script)]
        found = [(one, tool) for tool in TOOLS if (one := _first_wrapped(tool, script, strict.end()))]
    place, tool = min(found, default=(0, ""))
    known = 0 < place < min(refusals, default=0) and not _MAY_NOTICE.search(code, 0, place)
    own = tool and re.search(_OWN.format(tool), code, re.MULTILINE)
    usable = known and not own and _is_outside(shown[:place]) and not any(tool in one for one in loaded)
    return (tool, script.line_of(place)) if usable else ("", 0)


def _first_call(tool: str, script: ShellScript, begin: int) -> int:
    """Return where a script first calls a program, if it is an assignment that fails without it; else 0."""
    code, shown = script.code, script.shown
    named = re.compile(rf"(?<![\w.-]){tool}(?![\w.-])").search(code)
    found = re.compile(_ASSIGNED.format(tool), re.MULTILINE).search(code, begin)
    # Whatever names the program before may look for it.
    if named is None or found is None or named.start() != found.end() - len(tool) - 1:
        return 0
    behind = _BEHIND.match(code, found.end())
    piped = behind is not None and "|" in shown[found.end() : behind.end()]
    fails = behind is not None and (not piped or PIPEFAIL.search(shown) is not None)
    return found.start() if fails and script.is_code(found.start()) else 0


def _first_wrapped(tool: str, script: ShellScript, begin: int) -> int:
    """Return where a script first gets a value from a function that only calls a program; 0 for nowhere."""
    names = [name for name, passed in wrapping_functions(tool, script) if not passed]
    called = re.compile(_CALLED.format("|".join(map(re.escape, names))), re.MULTILINE) if names else None
    found = called.search(script.shown, begin) if called else None
    if found is None:
        return 0
    named = re.compile(rf"(?<![\w.-]){tool}(?![\w.-])").finditer(script.code, 0, found.start())
    return found.start() if all(script.function_at(one.start()) for one in named) else 0


def _is_outside(shown: str) -> bool:
    """Return whether no function, group or branch that a script has begun is still open at its end."""
    return len(_OPENS.findall(shown)) == len(_CLOSES.findall(shown))
