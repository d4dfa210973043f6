"""
Shell scripts that decide by what one program prints: without it on the PATH, they allow everything.

The value is assigned once, and an empty one ends the script with 0 in front of every refusal, or refuses
nothing. Left out are scripts that may notice that the program is missing, as for refusals that it writes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from pytest_hookharness.campaigns.arming.hook_roles import GATES, role_of
from pytest_hookharness.campaigns.check.lone_programs.inline_scripts import shell_program
from pytest_hookharness.campaigns.check.lone_programs.lone_answers import TOOLS, is_told
from pytest_hookharness.campaigns.check.lone_programs.lone_searches import (
    ASSIGNED,
    GIVEN,
    can_refuse,
    only_shown_by,
    refusals_of,
)
from pytest_hookharness.campaigns.check.shell_code.script_parts import shell_script_of
from pytest_hookharness.campaigns.check.shell_code.wrapping_functions import with_programs_in_place
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# What a script does at its left edge where a value is empty, or is not the one that it looks for.
_VALUE = r"\"?\$\{{?(?P<{0}>\w+)(?::-)?\}}?\"?"
_WORD = r"[\"']?[\w.-]+[\"']?"
_ENDS = r"(?:\{[ \t]*)?exit[ \t]+0\b"
_OFF = re.compile(
    r"^(?:if[ \t]+)?\[\[?[ \t]+(?:" + _VALUE.format("other") + r"[ \t]+!=[ \t]+" + _WORD
    + r"|-z[ \t]+" + _VALUE.format("empty") + r"|" + _VALUE.format("none") + r"[ \t]+==?[ \t]+(?:\"\"|''))"
    r"[ \t]+\]\]?[ \t]*(?:&&|;[ \t]*then|\n[ \t]*then)\s*" + _ENDS
    + r"|^\[\[?[ \t]+(?:" + _VALUE.format("same") + r"[ \t]+==?[ \t]+" + _WORD
    + r"|-n[ \t]+" + _VALUE.format("full") + r")[ \t]+\]\]?[ \t]*\|\|[ \t]*" + _ENDS,
    re.MULTILINE,
)  # fmt: skip
# A list of texts, one of which has to fit.
_CASE = re.compile(
    r"^case[ \t]+" + _VALUE.format("chosen") + r"[ \t]+in\b(?P<list>(?:(?!^esac\b)[\s\S]){1,600}?)"
    r"(?:^[ \t]*|;;[ \t]*|\bin[ \t]+)\*\)\s*" + _ENDS,
    re.MULTILINE,
)
_PATTERN = re.compile(r"(?:^|;;|\bin\b)[ \t]*\(?(?P<texts>[^()\n;]{1,300})\)", re.MULTILINE)


def lone_switch(hook_set: HookSet, hook: Hook) -> str:
    """Return the program without which a hook's script allows everything; empty for none."""
    text = shell_program(hook_set, hook) if role_of(hook_set.host, hook.event) in GATES else ""
    if hook.type != "command" or not text:
        return ""
    for one in dict.fromkeys((text, *(with_programs_in_place(text, name) for name in TOOLS))):
        tool = only_switched_by(one) or only_shown_by(one)
        if tool and not is_told(hook_set, one, tool):
            return tool
    return ""


def only_switched_by(text: str) -> str:
    """Return the program that alone gives the value without which a shell script ends at once with 0."""
    script = shell_script_of(text)
    if script is None or not can_refuse(script):
        return ""
    before = script.code[: min(refusals_of(script), default=0)]
    tests = {name: place for place, name in _switches_off(before)}
    switches = [found for found in GIVEN.finditer(before) if tests.get(found["name"], -1) >= found.end()]
    often = Counter(ASSIGNED.findall(script.code)) if switches else Counter[str]()
    return next((found["tool"] for found in switches if often[found["name"]] == 1), "")


def _switches_off(code: str) -> Iterator[tuple[int, str]]:
    """Yield the variables whose empty value ends a script with 0, with the place of the test."""
    for found in _OFF.finditer(code):
        yield found.start(), next(name for name in found.groups() if name)
    for found in _CASE.finditer(code):
        texts = [text.strip() for one in _PATTERN.finditer(found["list"]) for text in one["texts"].split("|")]
        # A text that an empty value fits leads elsewhere.
        if all(re.search(r"[^*\"'\s]", text) for text in texts):
            yield found.start(), found["chosen"]
