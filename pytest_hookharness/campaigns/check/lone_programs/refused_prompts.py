"""
Hooks of prompts that end with 2 only because a program is missing, so that every prompt is refused.

A script that may refuse prompts for another reason has chosen to refuse where it cannot decide. Even then
nobody wants to need `python`, which many systems only have as `python3`.
"""

from __future__ import annotations

import re
from itertools import islice

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.arming.hook_roles import role_of
from pytest_hookharness.campaigns.check.answers.failed_refusals import read_printed
from pytest_hookharness.campaigns.check.lone_programs.inline_scripts import inline_program, shell_program
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import REFUSES_IN_JSON
from pytest_hookharness.campaigns.check.lone_programs.program_questions import questions_always_asked
from pytest_hookharness.campaigns.check.shell_code.shell_scripts import shell_script_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook, Ruling

# A whole branch that ends the script, with nothing behind it but words and the status.
_ONLY_WITH = re.compile(
    r"^if[ \t]+(?:command[ \t]+-[vV]|which|type|hash)[ \t]+(?P<tool>[A-Za-z][\w.+-]*)[^\n|]*"
    r"(?:;|\n)[ \t]*then[ \t]*\n"
    r"(?:[ \t][^\n]*\n|\n){0,30}?[ \t]+(?:exit|exec)\b[^\n]*\nfi[ \t]*\n"
    r"(?:[ \t]*\n|(?:echo|printf)[ \t][^\n]*\n){0,6}exit[ \t]+2\s*$",
    re.MULTILINE,
)
# A call whose failure refuses.
_OR_REFUSES = re.compile(
    r"^[ \t]*(?P<tool>python)[ \t]+(?!-[cm]\b)[^\n;&|]*\|\|[ \t]*exit[ \t]+2\b", re.MULTILINE
)
_REFUSES = re.compile(r"\b(?:exit|return)[ \t]+(?:2\b|[\"$])|\bexit[ \t]*(?:$|[;)}])", re.MULTILINE)
# The script may bring the program, as from a virtual environment.
_BRINGS = re.compile(r"\bPATH\+?=|^[ \t]*(?:source|\.|eval|alias)[ \t]", re.MULTILINE)
_RENAMED, _MOST = "python", 20


def refused_without(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook refuses every prompt; empty for none."""
    of_prompts = role_of(hook_set.host, hook.event) is hosts.Role.PROMPT
    if not of_prompts or hook.type != "command":
        return ""
    if read_printed(hosts.find(hook_set.host), hook, 2, stderr="No.").ruling is not Ruling.DENY:
        return ""
    programs = (shell_program(hook_set, hook), inline_program(hook.command) if hook.args is None else "")
    return next(filter(None, map(needed_program, programs)), "")


def needed_program(text: str) -> str:
    """Return the program without which a shell script ends with 2 whatever it reads; empty for none."""
    script = shell_script_of(text)
    if script is None or _BRINGS.search(script.shown):
        return ""
    code, shown = script.code, script.shown
    found = [one.tool for one in questions_always_asked(script) if one.refuses]
    found += [one["tool"] for one in _ONLY_WITH.finditer(code) if shown.startswith("if", one.start())]
    calls = [(one["tool"], one.start("tool")) for one in islice(_OR_REFUSES.finditer(code), _MOST)]
    found += [
        tool for tool, place in calls if shown.startswith(tool, place) and not script.conditions_at(place)
    ]
    alone = len(_REFUSES.findall(shown)) == 1 and not REFUSES_IN_JSON.search(code)
    renamed = "python3" not in code
    return next((tool for tool in found if alone or (tool == _RENAMED and renamed)), "")
