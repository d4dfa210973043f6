"""
Staging: a row as a scenario with real hooks, and reading what came of it.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookRun, Moved, Performed
from pytest_hookharness.scenario_files import scenario_from, script_from

from .dialects import Dialect
from .rows import Row

TOYS = Path(__file__).parents[1] / "hooks"
SAYS, LINGERS, PLACE = "./says", "./lingers", "./place"
COMMAND = "echo hi > ran.txt; echo visible-out"
CALL = {"run": COMMAND}

Terms = Mapping[str, Any]
Simulate = Callable[[Scenario], Outcome]


def scenario(
    row: Row, dialect: Dialect, events: Mapping[str, Any], *agent: Mapping[str, Any], **keys: Any
) -> Scenario:
    """
    A scenario with hooks in the host's own settings file.
    """
    files = {
        dialect.settings: dialect.file(events),
        "says": (TOYS / "says_as_told.sh").read_text(),
        "lingers": (TOYS / "lingers_as_told.py").read_text(),
        "place": (TOYS / "tells_its_place.sh").read_text(),
        "not-executable": "exit 0\n",
        **keys.pop("files", {}),
    }
    made = scenario_from({"name": "replay", "host": row.host, "files": files, **keys})
    return replace(made, script=script_from([{"prompt": "go"}, *agent], at_cap="idle"))


def command(given: Terms, **more: Any) -> str:
    """
    A hook that does what a variant says, as a command line.
    """
    special = given.get("command")
    if special is not None:
        return "./not-executable" if special == "@NOEXEC@" else str(special)
    words = [SAYS]
    options = {
        "--label": given.get("label"),
        "--out": given.get("stdout"),
        "--err": given.get("stderr"),
        "--exit": given.get("exit"),
        "--signal": given.get("signal"),
        "--sleep": given.get("sleep"),
    }
    for option, value in options.items():
        words += [option, str(value)] if value else []
    words += [] if given.get("reads_stdin", True) else ["--deaf"]
    words += ["--once"] if given.get("once") or more.get("once") else []
    return shlex.join(words)


def performed(outcome: Outcome) -> list[Performed]:
    """
    The calls that were carried out.
    """
    steps = (step.exchange for step in outcome.trace.steps)
    return [one for one in steps if isinstance(one, Performed) and not one.refused]


def moves(outcome: Outcome) -> list[Moved]:
    """
    What the agent did, with what it saw before.
    """
    return [step.exchange for step in outcome.trace.steps if isinstance(step.exchange, Moved)]


def told(outcome: Outcome, move: int) -> list[str]:
    """
    The texts that the agent saw before a move, by its place.
    """
    made = moves(outcome)
    return [message.text for message in made[move].saw.messages] if move < len(made) else []


def fires(outcome: Outcome, event: str) -> Iterator[HookRun]:
    """
    The fires of an event.
    """
    return (fire for _, hooked in outcome.trace.hooked(event) for fire in hooked.hook_runs)


def marks(outcome: Outcome) -> set[str]:
    """
    What hooks have marked as files.
    """
    changes = (change for _, hooked in outcome.trace.hooked() for change in hooked.changes)
    return {change.path.partition("/")[2] for change in changes}


def label(fire: HookRun) -> str:
    """
    What the hook of a fire was labelled with; empty for nothing.
    """
    words = shlex.split(fire.hook.command) + list(fire.hook.args or ())
    return next((after for word, after in pairwise(words) if word == "--label"), "")
