"""The shell program of a hook: its only script, or its command, also inside ``bash -c '...'``."""

from __future__ import annotations

import re
import shlex

from pytest_hookharness.campaigns.check.shell_code.shell_scripts import SHELL_SCRIPT, code_of
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook

# The shell with which hosts start a command.
_SHELL = "#!/bin/sh\n"
_WRAPPED = re.compile(r"(?:/usr/bin/env[ \t]+|/(?:usr/)?bin/)?(?P<shell>ba|da|z)?sh[ \t]+-\w*c[ \t]+['\"]")
# More than the start of another program.
_PROGRAM = re.compile(r"\$\(|[|;&]|\bif\b")


def shell_program(hook_set: HookSet, hook: Hook) -> str:
    """Return the text of the shell program that a hook runs; empty if there are several, or none."""
    texts = hook_set.scripts_of(hook)
    if texts:
        return texts[0] if len(texts) == 1 and SHELL_SCRIPT.match(texts[0]) else ""
    return inline_program(hook.command) if hook.type == "command" and hook.args is None else ""


def inline_program(command: str) -> str:
    """Return the shell program that a command is, with a first line that names its shell; empty for none."""
    found = _WRAPPED.match(command)
    if found is None:
        return f"{_SHELL}{_in_lines(command)}" if _PROGRAM.search(command) else ""
    try:
        words = shlex.split(command)
    except ValueError:
        return ""
    place = next((number for number, word in enumerate(words) if re.fullmatch(r"-\w*c", word)), 0)
    # What follows are arguments, or another command whose status counts.
    if len(words) != place + 2 or "$" in command.partition(words[place])[2].partition("'")[0]:
        return ""
    return f"#!/bin/{found['shell'] or ''}sh\n{_in_lines(words[-1])}"


def _in_lines(program: str) -> str:
    """Return a program with each command of a list in its own line."""
    shown = code_of(program)
    single = (found.start() for found in re.finditer(r"(?<!;);(?![;&])[ \t]*", shown))
    places = {*single}
    return "".join("\n" if place in places else letter for place, letter in enumerate(program))
