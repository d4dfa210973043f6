"""
This module is concerned with agents that hooks called and that were not there.

Middle floor: judging. Pure. It rests on what was printed when the call failed; a hook that throws that away
is not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pytest_hookharness.judging import codes
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Finding

_NAMES = "claude|codex|gemini|qwen|cursor-agent|copilot|droid|kimi|goose|opencode|openhands"
# As shells, env and Python say it.
_SAID = re.compile(
    rf"(?<![\w-])(?P<by_shell>{_NAMES}): (?:command )?not found"
    rf"|command not found: (?P<by_zsh>{_NAMES})\b"
    rf"|['\u2018](?P<by_env>{_NAMES})['\u2019]: No such file or directory"
    rf"|No such file or directory: '(?P<by_python>{_NAMES})'"
)
_LOOKED_AT = 1 << 16


def find_lost_agents(trace: Trace) -> Iterator[Finding]:
    """
    One finding for each call of an agent's program that could not be started.
    """
    for step, fire in trace.fires():
        if fire.run is None:
            continue
        said = fire.run.stderr.text[:_LOOKED_AT] + fire.run.stdout.text[:_LOOKED_AT]
        for name in dict.fromkeys(match[match.lastgroup or 0] for match in _SAID.finditer(said)):
            code = codes.AGENT_MISSING
            yield Finding(
                code=code.code,
                name=code.name,
                text=f"{fire.hook.event}: {name} was called and is not there.",
                advice=code.mend,
                turn=step.turn,
                hook=fire.hook.command,
            )
