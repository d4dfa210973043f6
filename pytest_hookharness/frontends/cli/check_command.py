"""
``hookharness check``: what is wrong with the hooks of a project.

Consents: whether the person agreed that the hooks of a project are run.

What was agreed to is kept in the person's cache, as digests: the commands of a project folder, so
that others are asked about anew.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

from pytest_hookharness.campaigns.check.discovery import find_places
from pytest_hookharness.campaigns.check.hook_statistics import require_name
from pytest_hookharness.frontends.checkup import apart, check, command, judge
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.output.incident_files import make_folder
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.reports.terminal import check_report as reports
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

_QUESTION = "Run these commands in throw-away copies? [y/N] "
_NOBODY = (
    "{path}: its hooks would be run here for the first time, and nobody is there to be asked; give --yes if "
    "they may, or call it in a terminal"
)


def ask(path: Path, places: Sequence[HookSet]) -> bool:
    """
    Whether the hooks of some places may be run, as was said before or is said now.

    Raises:
        SimulationError: Nobody is there to be asked.
    """
    note = _folder() / _digest(path, places)
    if note.is_file():
        return True
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise SimulationError(_NOBODY.format(path=path.resolve()))
    print(_QUESTION, end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        return False
    note.parent.mkdir(parents=True, exist_ok=True)
    note.touch()
    return True


def _folder() -> Path:
    given = os.environ.get("XDG_CACHE_HOME", "")
    cache = Path(given) if given.startswith("/") else Path.home() / ".cache"
    return cache / "hookharness" / "consents"


def _digest(path: Path, places: Sequence[HookSet]) -> str:
    told = [str(path.resolve())]
    for place in places:
        told += [place.host, *(repr((hook.event, hook.command, hook.args)) for hook in place.hooks)]
    return sha256("\0".join(told).encode("utf-8", "surrogateescape")).hexdigest()


DESCRIPTION = (
    "Finds the hooks that a project configures, for every host, plays sessions with them in throw-away "
    "copies of project and HOME, and says what is wrong; docs/check.md says what is looked for. Exit status: "
    "0 nothing, 1 something, 2 it could not be told."
)


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
    if not arguments.yes and not ask(arguments.path, places):
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
        print("\n\n".join(reports.render_check(checkup, again) for checkup in found))
    return judge(found)


def _check_all(
    places: Sequence[HookSet], harness: Harness, arguments: argparse.Namespace
) -> Sequence[CheckReport]:
    """
    One place after the other, until Ctrl-C; if one problem is looked for, only the place that shows it.
    """
    found: list[CheckReport] = []
    for place in places:
        checkup = check(place, harness, arguments.only, arguments.write_scenarios, _progress())
        if arguments.only and checkup.problems:
            return [checkup]
        found.append(checkup)
        if checkup.interrupted:
            break
    return found


def _progress() -> Callable[[str, int, int], None] | None:
    if not sys.stderr.isatty():
        return None

    def show(words: str, done: int, number: int) -> None:
        print(f"\r\033[K{words}: {done} of {number}", end="", file=sys.stderr, flush=True)

    return show


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
