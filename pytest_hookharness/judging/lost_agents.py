"""
This module is concerned with agents that hooks called and that were not there.

Middle floor: judging. Pure. It rests on what was printed when the call failed; a hook that throws that away
is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.judging import codes
from pytest_hookharness.model.processes import Ending, Exited
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding

_NAMES = "claude|codex|gemini|qwen|cursor-agent|copilot|droid|kimi|goose|opencode|openhands"
_NO_FILE = r"No such file or directory"
# As shells that name the place, zsh, env and Python say it of a call, in a line of its own. A message of the
# hook's own, of a program about a file, or of Python about a file that is not there has another form.
_SAID = re.compile(
    rf"^\S[^:\n]*: (?:line )?\d+: (?P<by_shell>{_NAMES}): (?:command )?not found$"
    rf"|^zsh(?::\d+)?: command not found: (?P<by_zsh>{_NAMES})$"
    rf"|^(?:/usr)?(?:/bin/)?env: ['\u2018](?P<by_env>{_NAMES})['\u2019]: {_NO_FILE}$"
    rf"|_execute_child\n(?:[ \t].*\n)*FileNotFoundError: \[Errno 2\] {_NO_FILE}: '(?P<by_python>{_NAMES})'$",
    re.MULTILINE,
)
# The status of a command that is not there tells the short form, too, from words about it.
_SAID_WITH_STATUS = re.compile(rf"^[\w/.-]+: (?P<by_shell>{_NAMES}): (?:command )?not found$", re.MULTILINE)
_NOT_THERE = 127
_LOOKED_AT = 1 << 16


def find_lost_agents(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each call of an agent's program that could not be started.
    """
    for step, fire in trace.fires():
        if fire.run is None:
            continue
        said = fire.run.stderr.text[:_LOOKED_AT] + fire.run.stdout.text[:_LOOKED_AT]
        for name in _names(said, fire.run.ending):
            text = f"{fire.hook.event}: {name} was called and is not there."
            yield codes.AGENT_MISSING.found(text, turn=step.turn, hook=fire.hook.command)


def _names(said: str, ending: Ending) -> Iterator[str]:
    forms = [_SAID, _SAID_WITH_STATUS] if ending == Exited(_NOT_THERE) else [_SAID]
    matches = (match for form in forms for match in form.finditer(said))
    yield from dict.fromkeys(match[match.lastgroup or 0] for match in matches)
