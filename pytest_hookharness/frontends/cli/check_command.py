"""
``hookharness check``: find what is wrong with the hooks of a project.

Without an option it plays the sessions of a check. ``--stress`` plays one session with one thing different at
a time, ``--explore`` tries every move of an agent; both also take an item of a scenario file.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.campaigns.arming.activation import given_activations
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.home_search import with_looked_for
from pytest_hookharness.campaigns.check.hook_statistics import require_name
from pytest_hookharness.execution.processes.slots import competition
from pytest_hookharness.execution.workspace.project_copies import ProjectCopies
from pytest_hookharness.frontends import checkup
from pytest_hookharness.frontends.cli.accepted_problems import (
    accept,
    entry_for,
    is_complete,
    read_baseline,
    write_baseline,
)
from pytest_hookharness.frontends.cli.check_output import ANY, FORMATS, check_words, print_reports, status
from pytest_hookharness.frontends.cli.consent import is_agreed, lend
from pytest_hookharness.frontends.cli.play import add_settings, settings_of
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.option_types import OptionError, make_folder, require_new, whole_number
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.moves import FIRST_PROMPT, Script
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import check_report as reports
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

_SCENARIO = ".scenario.yaml"
_ONLY_READ = "This is what the files alone show: {why}."
# The share of the budget for what is no session, and by how many times it may grow on a busy machine.
_REST, _BUSIEST = 0.02, 4
_DESCRIPTION = (
    "Finds the hooks that a project configures, for every host, plays sessions with them in throw-away "
    "copies of the project, with a HOME of their own, and reports what is wrong. With --stress: plays one "
    "session as it is, then with one thing different at a time. With --explore: tries all moves of an agent "
    "in every state, and looks for a state from which no move leads to a stop. Exit status: "
    "0 nothing is wrong, 1 something is, 2 unknown."
)
_PATH = "a project, a plugin, a marketplace or a settings file (.); or FILE::item"
# Options that only some kinds of check read, with the value that means they were not given.
_CHECK_OPTIONS: Mapping[str, object] = {
    "format": "text",
    "fail_on": ANY,
    "baseline": None,
    "write_baseline": None,
    "write_scenarios": None,
    "fix": False,
    "arm": [],
    "arm_file": [],
}
_STRESS_OPTIONS: Mapping[str, object] = {"refused": [], "refuses_nothing": False, "plan": False, "most": None}
_EXPLORE_OPTIONS: Mapping[str, object] = {"agent_may_run": [], "states": None, "time": None}


def declare_check(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness check``."""
    parser.description = _DESCRIPTION
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help=_PATH)
    parser.add_argument("--host", default="", help="only the hooks of this host")
    parser.add_argument("--yes", action="store_true", help="run the hooks without asking first")
    parser.add_argument(
        "--only",
        default="",
        metavar="NAME",
        help="look only for this problem, or this kind; with --stress, try only this mutation or kind",
    )
    parser.add_argument(
        "--write-scenarios", type=Path, metavar="DIR", help="write a scenario for each problem"
    )
    _declare_arming(parser)
    parser.add_argument("--fix", action="store_true", help="write the fixes that were played")
    parser.add_argument("--format", choices=FORMATS, default="text", help="how the report is printed (text)")
    parser.add_argument(
        "--fail-on",
        default=ANY,
        metavar="NAMES",
        help="which problems give exit status 1: any (default), must-fix, none, or names; the status is 2 if "
        "something could not be tried, whatever is named here",
    )
    parser.add_argument(
        "--baseline", type=Path, metavar="FILE", help="a TOML file of accepted problems, each with a reason"
    )
    parser.add_argument(
        "--write-baseline", type=Path, metavar="FILE", help="write the problems into a new baseline file"
    )
    kinds = parser.add_mutually_exclusive_group()
    kinds.add_argument("--stress", action="store_true", help="play with one thing different at a time")
    kinds.add_argument("--explore", action="store_true", help="look for a lock-out")
    stress = parser.add_argument_group("with --stress")
    stress.add_argument(
        "--refused", action="append", default=[], metavar="COMMAND", help="a command the hooks must refuse"
    )
    stress.add_argument("--refuses-nothing", action="store_true", help="no hook is meant to refuse a call")
    stress.add_argument("--plan", action="store_true", help="only print what would be tried, in order")
    stress.add_argument(
        "--most", type=whole_number("--most", 1), metavar="N", help="try N of them; the seed chooses which"
    )
    explore = parser.add_argument_group("with --explore")
    explore.add_argument(
        "--agent-may-run", action="append", default=[], metavar="COMMAND", help="a command the agent may run"
    )
    explore.add_argument(
        "--states", type=whole_number("--states", 1), metavar="N", help="most states that are tried (200)"
    )
    explore.add_argument(
        "--time", metavar="TIME", help="most time to explore, such as 30s, 2m (30s), part of --budget"
    )
    add_settings(parser, traced_with="--stress or --explore")
    parser.set_defaults(call=_call)


def _declare_arming(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--arm",
        action="append",
        default=[],
        metavar="COMMAND",
        help="also play a session that begins with this shell command, which makes hooks active",
    )
    parser.add_argument(
        "--arm-file",
        action="append",
        default=[],
        metavar="FILE",
        help="also play a session with this file, by its path in the project and from the current folder",
    )


def _call(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    _refuse_idle_options(arguments)
    _refuse_wrong_values(arguments)
    settings = settings_of(arguments)
    campaign = arguments.stress or arguments.explore
    if _is_item(arguments.path):
        if not campaign:
            raise OptionError(
                f"check: {arguments.path} is a scenario; add --stress or --explore, or call `hookharness run`"
            )
        return _try_item(arguments, settings)
    hook_sets = find_hook_sets(Path(arguments.path), arguments.host, copies=True)
    looked = time.monotonic() - began
    if arguments.only and not campaign:
        require_name(arguments.only, hook_sets)
    print(reports.announcement(hook_sets, checkup.describe_isolation(settings)), file=sys.stderr)
    if not arguments.yes and (why := _refused(Path(arguments.path), hook_sets)):
        if campaign:
            raise SimulationError(f"{arguments.path}: {why}")
        print(f"hookharness: {arguments.path}: {why}", file=sys.stderr)
        certain = [checkup.unplayed(each, arguments.only, _ONLY_READ.format(why=why)) for each in hook_sets]
        return _report(certain, arguments, settings)
    share = replace(settings, wall=settings.wall / len(hook_sets))
    if campaign:
        return checkup.worst(_try_hook_sets(hook_sets, arguments, share))
    with Harness(settings) as harness, checkup.project_copies(harness) as copies:
        began = time.monotonic()
        try:
            found = with_looked_for(hook_sets, settings, replace(harness.resources, copies=copies))
        except KeyboardInterrupt:
            return _report(
                [checkup.unplayed(each, arguments.only) for each in hook_sets], arguments, harness.settings
            )
        # Looking at hooks is part of the budget, and waiting for an answer is not.
        # The rest is for the start and the end of the process, which take longer on a busy machine.
        rest = settings.wall * _REST * min(competition(), _BUSIEST)
        wall = settings.wall - looked - (time.monotonic() - began) - rest
        lent = lend(Path(arguments.path), hook_sets, found, agreed=arguments.yes)
        return _check(lent, arguments, harness, copies, wall)


def _refused(path: Path, hook_sets: Sequence[HookSet]) -> str:
    """Ask the person whether hooks may run; return why nothing is run, or nothing."""
    try:
        return "" if is_agreed(path, hook_sets) else "nothing was run, because you did not agree"
    except KeyboardInterrupt:
        print(file=sys.stderr)
        return "nothing was run, because you pressed Ctrl-C"


def _refuse_idle_options(arguments: argparse.Namespace) -> None:
    """Refuse options that would have no effect."""
    stress, explore, is_item = arguments.stress, arguments.explore, _is_item(arguments.path)
    rules: list[tuple[bool, Mapping[str, object], str]] = [
        (not stress, _STRESS_OPTIONS, "needs --stress"),
        (not explore, _EXPLORE_OPTIONS, "needs --explore"),
        (stress or explore, _CHECK_OPTIONS, "cannot be combined with --stress or --explore"),
        (not stress and not explore, {"trace_dir": None, "verbose": False}, "needs --stress or --explore"),
        (explore, {"only": ""}, "cannot be combined with --explore"),
        (is_item, {"host": ""}, "cannot be combined with an item of a scenario file, which names its host"),
    ]
    for applies, options, reason in rules:
        for name, unset in options.items():
            if applies and getattr(arguments, name) != unset:
                raise OptionError(f"--{name.replace('_', '-')} {reason}")


def _refuse_wrong_values(arguments: argparse.Namespace) -> None:
    """Refuse what would only be noticed when the report is printed."""
    check_words(arguments.fail_on)
    arguments.accepted = () if arguments.baseline is None else read_baseline(arguments.baseline)
    if arguments.write_baseline is not None:
        require_new(arguments.write_baseline, "--write-baseline")


def _is_item(path: str) -> bool:
    return "::" in path or path.endswith(_SCENARIO)


def _try_item(arguments: argparse.Namespace, settings: Settings) -> int:
    """Stress or explore an item of a scenario file. Nobody is asked: its author wrote what it runs."""
    from pytest_hookharness.campaigns.scenario_from_settings import with_all_trials
    from pytest_hookharness.frontends.cli.check_campaigns import explore, stress
    from pytest_hookharness.frontends.node_ids import pick

    scenario = pick(arguments.path)
    if arguments.stress:
        return stress(with_all_trials(scenario), arguments, settings, [arguments.path])
    return explore(scenario, arguments, settings, [arguments.path])


def _try_hook_sets(
    hook_sets: Sequence[HookSet], arguments: argparse.Namespace, settings: Settings
) -> Iterator[int]:
    """Stress or explore each hook set in a session of its own, and yield the exit status of each."""
    from pytest_hookharness.campaigns.scenario_from_settings import scenario_from_settings
    from pytest_hookharness.frontends.cli.check_campaigns import explore, stress

    for place, hook_set in enumerate(hook_sets):
        if place:
            print()
        host = arguments.host or hook_set.host
        scenario = scenario_from_settings(hook_set, host=host, refused=arguments.refused)
        # A file is read by one host; in a folder the host chooses among several hook sets.
        target = [arguments.path, "--yes"]
        target += ["--host", host] if arguments.host or not hook_set.only else []
        if arguments.stress:
            yield stress(scenario, arguments, settings, target)
        else:
            # The agent has a prompt, and may do what the options name.
            scenario = replace(scenario, vary=(), script=Script(acts=(FIRST_PROMPT,)))
            yield explore(scenario, arguments, settings, target)


def _check(
    hook_sets: Sequence[HookSet],
    arguments: argparse.Namespace,
    harness: Harness,
    copies: ProjectCopies | None,
    wall: float,
) -> int:
    """Check each hook set in ``wall`` seconds, print the report, and return the exit status."""
    folder: Path | None = arguments.write_scenarios
    is_new = folder is not None and not folder.exists()
    if folder is not None:
        make_folder(str(folder), "--write-scenarios", below=Path.cwd())
    given = given_activations(arguments.arm, arguments.arm_file)

    def is_fixable(place: HookSet, problem: Problem) -> bool:
        return entry_for(place, problem, arguments.accepted) is None

    fixing: bool = arguments.fix
    found = checkup.check_all(
        hook_sets, harness, copies, wall, arguments.only, folder, given, is_fixable=is_fixable, fixing=fixing
    )
    if is_new and folder is not None and not any(folder.iterdir()):
        folder.rmdir()
    return _report(found, arguments, harness.settings)


def _report(found: Sequence[CheckReport], arguments: argparse.Namespace, settings: Settings) -> int:
    """Write the files that options ask for, print reports, and return the exit status."""
    fail_on = check_words(arguments.fail_on)
    baseline: Path | None = arguments.baseline
    shown = [*found] if baseline is None else accept(found, arguments.accepted, baseline)

    def replay(problem: Problem, place: HookSet) -> str:
        path = place.root if place.part else Path(arguments.path)
        host = arguments.host or (place.host if place.part else "")
        return checkup.problem_command(problem, path, host, settings, _arming(arguments))

    try:
        for place, report in enumerate(shown if arguments.fix else ()):
            shown[place] = _write_fixes(report)
    finally:
        # The report is printed even if a file could not be written.
        code = status(shown, fail_on)
        print_reports(shown, arguments.format, replay, code)
    if arguments.write_baseline is not None:
        number = counted(write_baseline(arguments.write_baseline, shown), "problem")
        print(f"{arguments.write_baseline}: {number}; give each a reason", file=sys.stderr)
        if not all(map(is_complete, found)):
            print("The check is incomplete, so a later one may find more problems.", file=sys.stderr)
    if code != status(shown, (ANY,)):
        print(f"exit {code}: --fail-on {arguments.fail_on}", file=sys.stderr)
    return code


def _arming(arguments: argparse.Namespace) -> list[str]:
    """Return the options that make hooks active."""
    commands = [word for command in arguments.arm for word in ("--arm", command)]
    return [*commands, *(word for file in arguments.arm_file for word in ("--arm-file", file))]


def _write_fixes(report: CheckReport) -> CheckReport:
    """Write the fixes of a report, say so, and return the report with what was written."""
    from pytest_hookharness.frontends.cli.fix_files import write_changes

    if not report.changes:
        print(f"{report.place.title}: no fix found, so nothing was changed", file=sys.stderr)
        return report
    write_changes(report.place.root, report.changes)
    for change in report.changes:
        print(f"fixed: {plain(str(report.place.root / change.file), 300)}", file=sys.stderr)
    problems = [
        problem if (fix := problem.fix) is None else replace(problem, fix=replace(fix, written=fix.files))
        for problem in report.problems
    ]
    return replace(report, problems=tuple(problems))
