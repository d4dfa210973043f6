"""
``hookharness stress``: everything that may be different, tried on given hooks.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.scenario_from_settings import scenario_from_settings, with_all_trials
from pytest_hookharness.frontends.harness import Harness, header, options
from pytest_hookharness.frontends.node_ids import pick
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal import stress_table as tables
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, TrialSelection

AS_DECLARED, OTHERWISE, UNKNOWN = 0, 1, 2
_SUFFIX = ".scenario.yaml"
_UNREFUSED = (
    "No call was refused in the usual run, so nothing shows whether a guard still guards: name a shell "
    "command that it must refuse (--refused), or write a scenario with `expect: deny`. If no hook is to "
    "refuse any, say so: --refuses-nothing."
)
_REFUSED = "A call was refused in the usual run, though --refuses-nothing says that no hook is meant to."
# What is found of hooks that were never asked, which may be fine or not.
_MISSED = frozenset({"NEVER-FIRED", "UNREACHED"})
DESCRIPTION = (
    "Plays the hooks of a settings file, or one item of a scenario file, as they are, and then again with "
    "one thing different at a time, side by side on all processors. docs/stress.md explains the table. Exit "
    "status: 0 all as declared, 1 something is not, 2 it could not be told."
)


def add_arguments(parser: argparse.ArgumentParser, number: Callable[[str], int]) -> None:
    """
    Declare what the command takes beside the options of all commands that play something.
    """
    parser.add_argument(
        "target", metavar="SETTINGS", help="a host's settings file in its project, or FILE::item"
    )
    parser.add_argument(
        "--host", default="", help="host that reads the settings (the first that looks there)"
    )
    parser.add_argument(
        "--refused", action="append", default=[], metavar="COMMAND", help="a command the hooks must refuse"
    )
    parser.add_argument(
        "--refuses-nothing",
        action="store_true",
        help="no hook is meant to refuse a call: it only takes notes",
    )
    parser.add_argument("--plan", action="store_true", help="only say what would be tried, in which order")
    parser.add_argument("--only", default="", metavar="WORDS", help="try only what holds these words")
    parser.add_argument("--most", type=number, metavar="N", help="try so many; the seed says which")


def tell(arguments: argparse.Namespace, settings: Settings) -> int:
    """
    Try everything, and print the table.
    """
    scenario = _scenario(arguments)
    settings = replace(
        settings, probes=False, choice=TrialSelection(most=arguments.most, only=arguments.only)
    )
    print(header(settings))
    with Harness(settings) as harness:
        if arguments.plan:
            matrix = harness.lay_out(scenario)
            print(tables.plan(matrix.rows, matrix.untried, matrix.notes))
            return AS_DECLARED
        try:
            outcome = harness.simulate(scenario, on_trial=_progress())
            status = judge(outcome, refuses_nothing=arguments.refuses_nothing)
        except Interrupted as interrupted:
            outcome, status = interrupted.outcome, UNKNOWN
            print("\ninterrupted: this was seen until then")
    _clear()
    _print(outcome, arguments, settings)
    return status


def _scenario(arguments: argparse.Namespace) -> Scenario:
    target: str = arguments.target
    if "::" in target or target.endswith(_SUFFIX):
        return with_all_trials(pick(target))
    return scenario_from_settings(Path(target), host=arguments.host, refused=arguments.refused)


def judge(outcome: Outcome, *, refuses_nothing: bool = False) -> int:
    """
    The exit status that an outcome comes to.

    Args:
        outcome: What was seen.
        refuses_nothing: Whether no hook is meant to refuse a call.
    """
    words = {cell.outcome for cell in outcome.trial_results} - {"as declared", "not tried"}
    names = {finding.name for finding in outcome.findings}
    missed = bool(names) and names <= _MISSED
    undecided = outcome.verdict_name == "undecided"
    if words or (_broken(outcome) and not missed and not undecided):
        return OTHERWISE
    if refuses_nothing and _refuses_calls(outcome):
        return OTHERWISE
    if (
        missed
        or undecided
        or (_guards_nothing(outcome) and not refuses_nothing)
        or any(cell.left for cell in outcome.trial_results)
        or not outcome.trial_results
    ):
        return UNKNOWN
    return AS_DECLARED


def _broken(outcome: Outcome) -> bool:
    """
    Whether a promise was broken, other than by a lack of time.
    """
    return any(broken.path != outcome.scenario.mark("vary") for broken in outcome.violations)


def _guards_nothing(outcome: Outcome) -> bool:
    """
    Whether hooks asked before tools refuse nothing, so that one that is off looks like one that is not.
    """
    asked = any(outcome.hook_runs(event) for event in _before_tools(outcome))
    return asked and not _refuses_calls(outcome)


def _refuses_calls(outcome: Outcome) -> bool:
    return any(outcome.blocks(event) for event in _before_tools(outcome))


def _before_tools(outcome: Outcome) -> tuple[str, ...]:
    rules = hosts.find(outcome.scenario.host).for_role(hosts.Role.BEFORE_TOOL)
    return tuple(rule.name for rule in rules)


def _print(outcome: Outcome, arguments: argparse.Namespace, settings: Settings) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    print(f"as it is: {story.first_line(replace(outcome, violations=()))}")
    print(tables.table(outcome, lambda words: _again(words, arguments, settings), width=width))
    print(tables.describe_found(outcome), end="")
    if arguments.refuses_nothing and _refuses_calls(outcome):
        print(_REFUSED)
    if _guards_nothing(outcome) and not arguments.refuses_nothing:
        print(_UNREFUSED)


def _again(words: str, arguments: argparse.Namespace, settings: Settings) -> str:
    command = ["hookharness", "stress", arguments.target, "--only", words]
    command += ["--host", arguments.host] if arguments.host else []
    for refused in arguments.refused:
        command += ["--refused", refused]
    command += ["--refuses-nothing"] if arguments.refuses_nothing else []
    return shlex.join([*command, *options(settings)])


def _progress() -> Callable[[Outcome, int, int], None] | None:
    if not sys.stderr.isatty():
        return None

    def show(seen: Outcome, made: int, number: int) -> None:
        odd = {
            cell.mutation for cell in seen.trial_results if cell.outcome not in ("as declared", "not tried")
        }
        print(f"\r{made} of {number} tried, {len(odd)} not as declared", end="", file=sys.stderr, flush=True)

    return show


def _clear() -> None:
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
