"""Hooks that failed each time because of something that only this machine or a session lacks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence

from pytest_hookharness.execution.workspace import uv_stand_in
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.start_failures import NO_NETWORK

# What uv says where it can start no Python, though it can outside of a session.
_NO_PYTHON = "Failed to inspect Python interpreter"
# How shells and `env` name a program that they do not find.
_NOT_FOUND = re.compile(
    r"^(?:.*[:\d] )?(?:([\w.+-]+): (?:command )?not found|env: \W([\w.+-]+)\W: No such file or directory)$",
    re.MULTILINE,
)
# The ending of a script without an executable bit.
NO_EXECUTABLE_BIT = Exited(126)
# Commands that only some shells have: to name one is a defect of the script.
_OF_SHELLS = frozenset(
    ["source", "declare", "typeset", "shopt", "mapfile", "readarray", "let", "function", "pushd", "popd"]
)


def hindered_hooks(outcomes: Sequence[Outcome]) -> dict[str, str]:
    """
    Return the commands of hooks that each time failed or refused because something is missing, and what.

    It is missing only on this machine or in sessions, so nothing follows about the hook. A hook that goes on
    without a program, and says so, counts as one that failed.
    """
    found: dict[str, str] = {}
    for hook_run in (one for outcome in outcomes for _, one in outcome.trace.hook_runs()):
        run, command = hook_run.run, hook_run.hook.command
        refused = hook_run.reply.ruling is Ruling.DENY
        if run is None or run.ending == NO_EXECUTABLE_BIT:
            # Nothing of the script ran.
            continue
        said = f"{run.stderr.text}\n{run.stdout.text}"
        if run.ending != Exited(0) or refused:
            found[command] = "" if found.get(command) == "" else _hindrance(said, refused=refused)
        elif missing := _missing_program(said):
            found.setdefault(command, missing)
    return {command: why for command, why in found.items() if why}


def _hindrance(said: str, *, refused: bool) -> str:
    """Return what a hook was lacking, by its own words; empty for nothing."""
    if NO_NETWORK.search(said):
        return "it needs the network, which sessions do not have"
    if _NO_PYTHON in said:
        return "uv starts no Python in a session"
    if uv_stand_in.__name__ in said:
        return "uv is not on PATH, and its stand-in does not start here"
    # To refuse where a program is missing is what the hook decides.
    return "" if refused else _missing_program(said)


def _missing_program(said: str) -> str:
    missing = {one or other: None for one, other in _NOT_FOUND.findall(said)}
    named = (name for name in missing if name not in _OF_SHELLS and shutil.which(name) is None)
    return next((f"{name} is not on PATH" for name in named), "")
