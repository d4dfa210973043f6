"""
The check of the hooks of one project: what the shell command and the pytest option share.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.campaigns.check.check_run import CheckRun, OnStep
from pytest_hookharness.campaigns.check.discovery import copyable
from pytest_hookharness.campaigns.check.scenario_export import file_away
from pytest_hookharness.execution.processes.sandbox import available_tiers
from pytest_hookharness.frontends.harness import Harness, options
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.simulation.testbed.run_settings import Settings

CLEAN, FOUND, UNKNOWN = 0, 1, 2


_APART = {
    Tier.NAMESPACES: (
        "Apart from this machine: project and HOME are copies, /tmp is private, no network, what is written "
        "elsewhere is kept apart, and no process survives. Not apart: the kernel, /proc, running as you."
    ),
    Tier.SUBREAPER: (
        "Apart from this machine: project and HOME are copies, no process survives. Not apart: /tmp, the "
        "network, files elsewhere, and running as you."
    ),
    Tier.GROUP: (
        "Apart from this machine: project and HOME are copies. Not apart: /tmp, network, files elsewhere, "
        "processes in the background, and running as you."
    ),
}


def check(
    place: HookSet, harness: Harness, only: str = "", write: Path | None = None, on_step: OnStep | None = None
) -> CheckReport:
    """
    The check-up of one place, with scenario files of what is wrong if a folder for them is given.
    """
    with copyable(place) as (whole, left_out):
        examination = CheckRun(
            whole, harness.settings, harness.supervisor, harness.base, only, on_step or _stay_silent
        )
        found = replace(examination.examine(), place=place)
        if left_out:
            found = replace(found, open=(left_out, *found.open))
        return found if write is None else file_away(found, write, examination.shows)


def _stay_silent(_words: str, _done: int, _all: int) -> None:
    """
    Say nothing of how it goes on.
    """


def apart(settings: Settings) -> str:
    """
    What is and what is not kept apart from the machine, in sentences.
    """
    return _APART[settings.tier or available_tiers()[0]]


def command(problem: Problem, path: Path, host: str, settings: Settings) -> str:
    """
    The shell command that shows a problem again.
    """
    if problem.file is not None:
        item = f"{problem.file}::{problem.file.name.partition('.')[0]}[{problem.scenario.host}]"
        return shlex.join(["hookharness", "run", item, *options(settings)])
    words = ["hookharness", "check", str(path), "--yes", "--only", problem.id]
    words += ["--host", host] if host else []
    return shlex.join([*words, *options(settings)])


def judge(found: Sequence[CheckReport]) -> int:
    """
    The exit status that check-ups come to.
    """
    if any(checkup.interrupted for checkup in found):
        return UNKNOWN
    if any(checkup.problems for checkup in found):
        return FOUND
    return UNKNOWN if any(checkup.undecided for checkup in found) else CLEAN
