"""
Guards that ask for the program by which they read their input, and end silently if it is missing.

Only a question outside of functions and conditions counts, in front of every refusal. Nothing is said if
another script of the project may tell the person that the program is missing.
"""

from __future__ import annotations

import re

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import GATES, calls_of
from pytest_hookharness.campaigns.check.lone_programs.lone_searches import can_refuse, refusals_of
from pytest_hookharness.campaigns.check.lone_programs.program_questions import (
    is_asked_for,
    questions_always_asked,
)
from pytest_hookharness.campaigns.check.static.shell_scripts import (
    SHELL_SCRIPT,
    code_of,
    without_comment_lines,
)
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# What reads the input or the state of a hook; any other program may be what the hook is about.
READERS = frozenset({"jq", "node", "perl", "python", "python3", "ruby"})
# A module that is run as a program of its own, such as a test runner.
RUNS_A_MODULE = re.compile(r"\w+[ \t]+-m\b|\w+[ \t]+--?(?:version|V)\b")

# Code that stands in the script itself; a file may be the check for which the program is needed.
_OWN_CODE = re.compile(r"jq\b|\w+(?:[ \t]+-\w+)*?[ \t]+(?:-\w*[ce]\b|-(?=[ \t\n])|<<)|\w+[ \t]*(?:\n|$)")


def silent_end(hook_set: HookSet, hook: Hook) -> tuple[str, int]:
    """Return the program without which a hook silently allows everything, and the line; or nothing."""
    rule = hosts.find(hook_set.host).events.get(hook.event)
    texts = hook_set.scripts_of(hook)
    if rule is None or rule.role not in GATES or hook.type != "command" or len(texts) != 1:
        return ("", 0)
    tool, line = silent_question(texts[0])
    return (tool, line) if tool and not is_asked_for(hook_set, tool) else ("", 0)


def silent_question(text: str) -> tuple[str, int]:
    """Return the program without which a shell script ends silently before it can refuse, and the line."""
    if not SHELL_SCRIPT.match(text):
        return ("", 0)
    code, shown = without_comment_lines(text), code_of(text)
    places = [*refusals_of(code, shown)]
    if not places or not can_refuse(code, shown):
        return ("", 0)
    for one in questions_always_asked(code, shown):
        ends = one.leaves and one.begin < min(places)
        if ends and one.tool in READERS and _is_used(one.tool, code, one.end):
            return one.tool, code.count("\n", 0, one.begin) + 1
    return ("", 0)


def _is_used(tool: str, code: str, begin: int) -> bool:
    """Return whether a script gives a program code of its own behind a place, as to read the input."""
    return any(_OWN_CODE.match(code, place) for place, _ in calls_of(tool, code) if place >= begin)
