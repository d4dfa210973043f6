"""Obstacles to trying hooks: the check's time, errors of the harness, and gaps of this machine."""

from __future__ import annotations

import posixpath
import re
import shutil
import time
import traceback
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from pytest_hookharness.campaigns.arming.declared_packages import missing_package
from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.execution.exhaustion import Exhausted
from pytest_hookharness.execution.processes.sandbox import ExecutionError
from pytest_hookharness.execution.workspace import uv_stand_in
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.checkup import CheckSession
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, TimedOut
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.start_failures import NO_NETWORK
from pytest_hookharness.model.time_budget import BudgetEnded, limited_to
from pytest_hookharness.simulation.conclude import conclude_event
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.session.single_event import run_event
from pytest_hookharness.simulation.single_run import Resources
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError, TrialSelection

Value = TypeVar("Value")

# Errors that say what a person can do; any other is a defect of the harness.
_KNOWN = (SimulationError, WorkspaceError, ExecutionError, Exhausted, SlowPattern, BudgetEnded)
# The shortest hook timeout after a hook was cut, and how many times longer than so far other hooks may take.
_SHORTEST, _SLACK = 2.0, 5.0


def is_defect(error: Exception) -> bool:
    """Return whether an error is a defect of the harness."""
    return not isinstance(error, _KNOWN)


def describe_error(error: Exception) -> str:
    """Return the message of an error, and for a defect of the harness where it occurred."""
    if not is_defect(error):
        return str(error)
    *_, last = traceback.extract_tb(error.__traceback__)
    place = f"{Path(last.filename).name}, line {last.lineno}"
    return f"an error of hookharness, which please report: {type(error).__name__}: {error} ({place})"


def gather(*parts: Iterator[Value]) -> tuple[list[Value], list[str]]:
    """Return what all parts yield, each up to its error if it raises one, and a sentence for each error."""
    found: list[Value] = []
    errors: list[str] = []
    for part in parts:
        try:
            found.extend(part)
        except Exception as error:  # noqa: BLE001 -- what the other parts yield must not be lost
            errors.append(f"A part of the check ended early: {describe_error(error)}.")
    return found, errors


def patience(outcome: Outcome, hook_timeout: float) -> float:
    """Return a hook timeout that only cuts the hooks that were cut in an outcome."""
    ended = [
        run.run.wall
        for _, run in outcome.trace.hook_runs()
        if run.run is not None and not isinstance(run.ending, TimedOut)
    ]
    return min(hook_timeout, max(_SHORTEST, _SLACK * max(ended, default=0.0)))


def play_session(
    session: CheckSession, settings: Settings, resources: Resources, observer: Observer | None = None
) -> Outcome:
    """
    Play a session, and return its outcome.

    The budget of a check is real time, and the clock of a session stands still while it waits for a
    processor; so the session is limited by both.
    """
    choice = TrialSelection(only=session.only) if session.only else None
    # A loop that was started shows itself by many refusals; to prove that it has no end takes longer. A check
    # reports nothing about the pace of an agent.
    probes = settings.probes and session.ends and not session.active
    settings = replace(settings, keep=False, choice=choice, probes=probes, paces=False)
    with limited_to(settings.wall):
        if not session.event:
            return simulate(session.scenario, settings, resources, observer=observer)
        with resources.open(session.scenario, settings) as (testbed, _):
            # The host keeps the session of each event, in a folder where hooks may write, too.
            testbed.write_transcript(testbed.facts.transcript_path, ())
            return conclude_event(testbed, run_event(testbed, session.event, session.fields).hooked)


def play_timed(session: CheckSession, settings: Settings, resources: Resources) -> tuple[Outcome, float]:
    """Play a session; return its outcome and the seconds that it took."""
    began = time.monotonic()
    outcome = play_session(session, settings, resources)
    return outcome, time.monotonic() - began


# The message of uv if it can start no Python in a session, though it can outside.
_NO_PYTHON = "Failed to inspect Python interpreter"
# The messages of shells, and of programs that start others, about a program that they do not find.
_NOT_FOUND = re.compile(
    r"^(?:.*[:\d] )?(?:([\w.+-]+): (?:command )?not found"
    r"|(?:env|xargs|nice|nohup|setsid|stdbuf|time|timeout): (?:failed to run command |cannot run )?"
    r"\W?([\w.+-]+)\W?: No such file or directory)$",
    re.MULTILINE,
)
# The errors of Python and Node if they find no program to start; other files may be missing as well.
_NOT_STARTED = re.compile(
    r"\b_execute_child\b[\s\S]{0,2000}FileNotFoundError: \[Errno 2\] [^\n']+: '([\w.+-]+)'"
    r"|\bspawn(?:Sync)? ([\w.+-]+) ENOENT\b"
)
# How hooks say in words of their own that a program is missing, with the program's name in any letters.
_NOT_INSTALLED = re.compile(
    r"(?<![\w.-])(bun|deno|node|npx|pnpm|yarn|uvx?|pipx|poetry|ruff|gh|jq|yq|rg|fd|fzf|docker|podman|cargo|rustc|go|java"
    r"|php|composer|ruby|dotnet|swift|claude|codex|gemini|terraform|kubectl|shellcheck|prettier|eslint|tsc)\b"
    r"(?:[ ](?:CLI|binary|command|executable|runtime))?[ ](?:is[ ]|was[ ]|could[ ])?"
    r"(?:required[ ]but[ ])?not[ ](?:be[ ])?(?:found|installed|available)\b",
    re.IGNORECASE,
)
# The messages about modules, files and functions that a script does not find.
_NOT_COPIED = re.compile(
    r"No module named '([\w.]+)'|Cannot find module '([^'\n]+)'|([\w./-]+): No such file or directory"
    r"|(\w*_\w*): command not found"
)
# How a script without an executable bit ends.
NO_EXECUTABLE_BIT = Exited(126)
# Commands that only some shells have: to name one is a defect of the script.
_OF_SHELLS = frozenset(
    ["source", "declare", "typeset", "shopt", "mapfile", "readarray", "let", "function", "pushd", "popd"]
)


def hindered_hooks(
    outcomes: Sequence[Outcome], *, copied: bool = False, root: Path | None = None
) -> dict[str, str]:
    """
    Return the commands of hooks that each time failed or refused because something is missing, and what.

    It is missing only on this machine or in sessions, so this shows no defect of the hook. A hook that
    continues without a program, and says so, counts as one that failed.

    Args:
        copied: Whether scripts were copied to where commands name them, perhaps without what they load.
        root: The project, which declares packages.
    """
    found: dict[str, str] = {}
    for hook_run in (one for outcome in outcomes for _, one in outcome.trace.hook_runs()):
        run, command = hook_run.run, hook_run.hook.command
        refused = hook_run.reply.ruling is Ruling.DENY
        if run is None or run.ending == NO_EXECUTABLE_BIT:
            # The script did not run at all.
            continue
        said = f"{run.stderr.text}\n{run.stdout.text}"
        package = missing_package(said, root) if root is not None and not refused else ""
        without = package and f"the package {package}, which the project declares, is not installed here"
        if run.ending != Exited(0) or refused:
            why = _hindrance(said, refused=refused, copied=copied) or without
            found[command] = "" if found.get(command) == "" else why
        elif missing := (_not_copied(said) if copied else "") or _missing_program(said) or without:
            found.setdefault(command, missing)
    return {command: why for command, why in found.items() if why}


def _hindrance(said: str, *, refused: bool, copied: bool) -> str:
    """Return what was missing, as the hook's output says; empty if nothing was."""
    if copied and (missing := _not_copied(said)):
        return missing
    if NO_NETWORK.search(said):
        return "it needs the network, which sessions do not have"
    if _NO_PYTHON in said:
        return "uv starts no Python in a session"
    if uv_stand_in.__name__ in said:
        return "uv is not on PATH, and its stand-in does not start here"
    # A hook may decide to refuse if a program is missing.
    return "" if refused else _missing_program(said)


def _not_copied(said: str) -> str:
    missing = _NOT_COPIED.search(said)
    name = next((word for word in missing.groups() if word), "") if missing else ""
    return f"{posixpath.basename(name)} was not found by the copy of its script" if name else ""


def _missing_program(said: str) -> str:
    found = (*_NOT_FOUND.findall(said), *_NOT_STARTED.findall(said))
    missing = {one or other: None for one, other in found}
    missing |= dict.fromkeys(name.lower() for name in _NOT_INSTALLED.findall(said))
    # Functions of shells have underscores in their names, and hardly any program has.
    programs = (name for name in missing if name not in _OF_SHELLS and "_" not in name)
    named = (name for name in programs if shutil.which(name) is None)
    return next((f"{name} is not on PATH" for name in named), "")
