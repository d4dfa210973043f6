"""
This module is concerned with ``hookharness check``: what is wrong with the hooks of a project.

Top floor: a thin door to examinations.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import consents
from pytest_hookharness.copies import copyable
from pytest_hookharness.entries import make_folder
from pytest_hookharness.examinations import Examination, OnStep
from pytest_hookharness.execution.sandbox import available_tiers
from pytest_hookharness.filings import file_away
from pytest_hookharness.harness import Harness, options
from pytest_hookharness.model.checkups import Checkup, Place, Problem
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.places import find_places
from pytest_hookharness.problem_names import require_name
from pytest_hookharness.reports import checkup as reports
from pytest_hookharness.settings import Settings, SimulationError

CLEAN, FOUND, UNKNOWN = 0, 1, 2
DESCRIPTION = (
    "Finds the hooks that a project configures, for every host, plays sessions with them in throw-away "
    "copies of project and HOME, and says what is wrong; docs/check.md says what is looked for. Exit status: "
    "0 nothing, 1 something, 2 it could not be told."
)
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


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """
    Declare what the command takes beside the options of all commands that play something.
    """
    parser.add_argument(
        "path", metavar="PATH", nargs="?", type=Path, default=Path(), help="a project or a settings file (.)"
    )
    parser.add_argument("--host", default="", help="look only for the hooks of this host")
    parser.add_argument("--yes", action="store_true", help="run the hooks without asking first")
    parser.add_argument(
        "--only", default="", metavar="PROBLEM", help="look only for the problem of this name"
    )
    parser.add_argument(
        "--write-scenarios", type=Path, metavar="DIR", help="write a scenario for each problem"
    )
    parser.add_argument("--json", action="store_true", help="print JSON")


def tell(arguments: argparse.Namespace, settings: Settings) -> int:
    """
    Check all hooks that are found, and print what is wrong.
    """
    places = find_places(arguments.path, arguments.host)
    if arguments.only:
        require_name(arguments.only, places)
    for place in places:
        print(reports.announcement(place, apart(settings)), file=sys.stderr)
    if not arguments.yes and not consents.ask(arguments.path, places):
        raise SimulationError(f"{arguments.path}: nothing was run, for you did not agree to it")
    if arguments.write_scenarios is not None:
        make_folder(str(arguments.write_scenarios), "--write-scenarios", below=Path.cwd())
    share = replace(settings, wall=settings.wall / len(places))
    with Harness(share) as harness:
        found = _check_all(places, harness, arguments)
    _clear()

    def again(problem: Problem) -> str:
        return command(problem, arguments.path, arguments.host, settings)

    if arguments.json:
        print(json.dumps(reports.as_json(found, again), indent=2))
    else:
        print("\n\n".join(reports.told(checkup, again) for checkup in found))
    return judge(found)


def _check_all(places: Sequence[Place], harness: Harness, arguments: argparse.Namespace) -> Sequence[Checkup]:
    """
    One place after the other, until Ctrl-C; if one problem is looked for, only the place that shows it.
    """
    found: list[Checkup] = []
    for place in places:
        checkup = check(place, harness, arguments.only, arguments.write_scenarios, _progress())
        if arguments.only and checkup.problems:
            return [checkup]
        found.append(checkup)
        if checkup.interrupted:
            break
    return found


def check(
    place: Place, harness: Harness, only: str = "", write: Path | None = None, on_step: OnStep | None = None
) -> Checkup:
    """
    The check-up of one place, with scenario files of what is wrong if a folder for them is given.
    """
    with copyable(place) as (whole, left_out):
        examination = Examination(
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


def judge(found: Sequence[Checkup]) -> int:
    """
    The exit status that check-ups come to.
    """
    if any(checkup.interrupted for checkup in found):
        return UNKNOWN
    if any(checkup.problems for checkup in found):
        return FOUND
    return UNKNOWN if any(checkup.undecided for checkup in found) else CLEAN


def _progress() -> Callable[[str, int, int], None] | None:
    if not sys.stderr.isatty():
        return None

    def show(words: str, done: int, number: int) -> None:
        print(f"\r\033[K{words}: {done} of {number}", end="", file=sys.stderr, flush=True)

    return show


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
