"""``hookharness check --stress``: one session, played with one thing different at a time."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.frontends.checkup import CLEAN, FOUND, UNKNOWN, campaign_headline
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.progress import shell_line
from pytest_hookharness.frontends.replay_command import replay_options
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal import stress_table as tables
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, TrialSelection

_UNREFUSED = (
    "No call was refused in the usual run, so nothing shows whether a guard still works: name a shell "
    "command that it must refuse (--refused), or write a scenario with `expect: deny`. If no hook is meant "
    "to refuse any, add --refuses-nothing."
)
_REFUSED = "A call was refused in the usual run, although --refuses-nothing says that no hook is meant to."
# Findings about hooks that never ran, which may be right or wrong.
_NEVER_RAN = frozenset({"NEVER-FIRED", "UNREACHED"})


def stress(
    scenario: Scenario, arguments: argparse.Namespace, settings: Settings, target: Sequence[str]
) -> int:
    """
    Try all mutations of a scenario, print the table, and return the exit status.

    Args:
        scenario: The scenario, with the mutations in ``vary``.
        arguments: The options of the command.
        settings: The settings.
        target: The words of the command that name the scenario.
    """
    settings = replace(
        settings, probes=False, choice=TrialSelection(most=arguments.most, only=arguments.only)
    )
    print(campaign_headline("stress", scenario, settings))
    interrupted = False
    with Harness(settings, line=shell_line(sys.stderr)) as harness:
        if arguments.plan:
            matrix = harness.plan_trials(scenario)
            print(tables.plan(matrix.rows, matrix.untried, matrix.notes))
            return CLEAN
        try:
            outcome = harness.simulate(scenario)
        except Interrupted as error:
            outcome, interrupted = error.outcome, True
            print("\ninterrupted: this was seen until then")

    def replay(words: str) -> str:
        return _replay_command(words, arguments, settings, target)

    _print(outcome, replay, refuses_nothing=arguments.refuses_nothing)
    if interrupted:
        # Ctrl-C ends the whole command, not only this hook set.
        raise KeyboardInterrupt
    return judge(outcome, refuses_nothing=arguments.refuses_nothing)


def judge(outcome: Outcome, *, refuses_nothing: bool = False) -> int:
    """
    Return the exit status of a stressed scenario.

    Args:
        outcome: The outcome, with its trial results.
        refuses_nothing: Whether no hook is meant to refuse a call.
    """
    deviations = {result.outcome for result in outcome.trial_results} - {"as declared", "not tried"}
    names = {finding.name for finding in outcome.findings}
    never_ran = bool(names) and names <= _NEVER_RAN
    undecided = outcome.verdict_name == "undecided"
    if deviations or (_is_broken(outcome) and not never_ran and not undecided):
        return FOUND
    if refuses_nothing and _refuses_calls(outcome):
        return FOUND
    if (
        never_ran
        or undecided
        or (_guards_nothing(outcome) and not refuses_nothing)
        or any(result.left for result in outcome.trial_results)
        or not outcome.trial_results
    ):
        return UNKNOWN
    return CLEAN


def _is_broken(outcome: Outcome) -> bool:
    """Return whether an expectation failed, other than for lack of time."""
    return any(broken.path != outcome.scenario.mark("vary") for broken in outcome.violations)


def _guards_nothing(outcome: Outcome) -> bool:
    """Return whether hooks before tools refuse nothing: one that stopped working would look the same."""
    asked = any(outcome.hook_runs(event) for event in _before_tools(outcome))
    return asked and not _refuses_calls(outcome)


def _refuses_calls(outcome: Outcome) -> bool:
    return any(outcome.blocks(event) for event in _before_tools(outcome))


def _before_tools(outcome: Outcome) -> tuple[str, ...]:
    rules = hosts.find(outcome.scenario.host).for_role(hosts.Role.BEFORE_TOOL)
    return tuple(rule.name for rule in rules)


def _print(outcome: Outcome, replay: Callable[[str], str], *, refuses_nothing: bool) -> None:
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 200
    print(f"as it is: {story.first_line(replace(outcome, violations=()))}")
    print(tables.table(outcome, replay, width=width))
    print(tables.describe_found(outcome), end="")
    if refuses_nothing and _refuses_calls(outcome):
        print(_REFUSED)
    if _guards_nothing(outcome) and not refuses_nothing:
        print(_UNREFUSED)


def _replay_command(
    words: str, arguments: argparse.Namespace, settings: Settings, target: Sequence[str]
) -> str:
    command = ["hookharness", "check", "--stress", *target, "--only", words]
    for refused in arguments.refused:
        command += ["--refused", refused]
    command += ["--refuses-nothing"] if arguments.refuses_nothing else []
    return shlex.join([*command, *replay_options(settings)])
