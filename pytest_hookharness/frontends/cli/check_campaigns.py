"""
``hookharness check --stress`` and ``--explore``: one thing different at a time, or every move of the agent.

The last argument of both, ``target``, holds the words of the command that name the scenario.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.frontends.checkup import CLEAN, FOUND, UNKNOWN, campaign_headline
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.option_types import seconds
from pytest_hookharness.frontends.replay_command import replay_options
from pytest_hookharness.frontends.screen import shell_line
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.moves import RunCommand, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import UNWANTED
from pytest_hookharness.reports.terminal import campaign_report as tables
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal.campaign_report import conclusion_of
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, TrialSelection

_UNREFUSED = (
    "No call was refused in the usual run, so nothing shows whether a guard still works: name a shell "
    "command that it must refuse (--refused), or write a scenario with `expect: deny`. If no hook is meant "
    "to refuse any, add --refuses-nothing."
)
_REFUSED = "A call was refused in the usual run, although --refuses-nothing says that no hook is meant to."
_FAILS = "Without a mutation the result is already {verdict}: fix that first, or expect it in a scenario."
_OWN_AGENT = (
    "For the agent of the scenario the result is {verdict}: fix that first, or expect it in a scenario."
)
# Findings about hooks that never ran, which may be right or wrong.
_NEVER_RAN = frozenset({"NEVER-FIRED", "UNREACHED"})


@contextmanager
def _played(scenario: Scenario, settings: Settings) -> Generator[Outcome]:
    """Play a scenario and yield its outcome; after Ctrl-C, what was seen until then."""
    interrupted = False
    with Harness(settings, line=shell_line(sys.stderr)) as harness:
        try:
            outcome = harness.simulate(scenario)
        except Interrupted as error:
            outcome, interrupted = error.outcome, True
            print("\ninterrupted: this was seen until then")
    yield outcome
    if interrupted:
        # Ctrl-C ends the whole command, not only this hook set.
        raise KeyboardInterrupt


def _width(without_terminal: int) -> int:
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else without_terminal


def stress(
    scenario: Scenario, arguments: argparse.Namespace, settings: Settings, target: Sequence[str]
) -> int:
    """Try all mutations in ``vary`` of a scenario, print the table, and return the exit status."""
    settings = replace(
        settings, probes=False, choice=TrialSelection(most=arguments.most, only=arguments.only)
    )
    print(campaign_headline("stress", scenario, settings))
    if arguments.plan:
        with Harness(settings, line=shell_line(sys.stderr)) as harness:
            matrix = harness.plan_trials(scenario)
        print(tables.plan(matrix.rows, matrix.untried, matrix.notes))
        return CLEAN

    def replay(words: str) -> str:
        command = ["hookharness", "check", "--stress", *target, "--only", words]
        for refused in arguments.refused:
            command += ["--refused", refused]
        command += ["--refuses-nothing"] if arguments.refuses_nothing else []
        return shlex.join([*command, *replay_options(settings)])

    refuses_nothing: bool = arguments.refuses_nothing
    with _played(scenario, settings) as outcome:
        print(f"as it is: {story.first_line(replace(outcome, violations=()))}")
        print(tables.table(outcome, replay, width=_width(200), verbose=arguments.verbose))
        print(tables.describe_found(outcome), end="")
        if _fails_already(outcome):
            print(_FAILS.format(verdict=outcome.verdict_name))
        if refuses_nothing and _refuses_calls(outcome):
            print(_REFUSED)
        if _guards_nothing(outcome) and not refuses_nothing:
            print(_UNREFUSED)
    return stress_status(outcome, refuses_nothing=refuses_nothing)


def stress_status(outcome: Outcome, *, refuses_nothing: bool = False) -> int:
    """Return the exit status of a stressed scenario, in which hooks may be meant to refuse no call."""
    deviations = {result.outcome for result in outcome.trial_results} - {"as declared", "not tried"}
    names = {finding.name for finding in outcome.findings}
    never_ran = bool(names) and names <= _NEVER_RAN
    undecided = outcome.verdict_name == "undecided"
    if deviations or _fails_already(outcome) or (_is_broken(outcome) and not never_ran and not undecided):
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


def _fails_already(outcome: Outcome) -> bool:
    """Return whether the hooks end the session itself badly, and no expectation asks for that."""
    return outcome.verdict_name in UNWANTED and outcome.scenario.expect.verdict != outcome.verdict_name


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


def explore(
    scenario: Scenario, arguments: argparse.Namespace, settings: Settings, target: Sequence[str]
) -> int:
    """Explore a scenario, print what was found, and return the exit status."""
    print(campaign_headline("exploration", scenario, settings))
    words = ["hookharness", "check", "--explore", *target]
    for name in ("states", "time"):
        value = getattr(arguments, name)
        words += [f"--{name}", str(value)] if value else []
    for command in arguments.agent_may_run:
        words += ["--agent-may-run", command]
    replay = shlex.join([*words, *replay_options(settings)])
    with _played(_with_options(scenario, arguments), settings) as outcome:
        shown = replace(outcome, violations=())
        print(story.story(shown, width=_width(100), replay_command=replay, verbose=arguments.verbose))
        interrupted = outcome.explored is None and "interrupted" in getattr(outcome.verdict, "why", "")
        print(conclusion_of(outcome.explored, interrupted=interrupted))
        trapped = outcome.explored is None or outcome.explored.trap is not None
        # What other moves lead to does not change how the session of a scenario ends. For settings the agent
        # is made up, and nobody expects anything of it.
        fails = not trapped and scenario.origin is not None and _fails_already(outcome)
        if fails:
            print(_OWN_AGENT.format(verdict=outcome.verdict_name))
    if trapped or fails:
        return FOUND
    return CLEAN if outcome.explored is not None and outcome.explored.covered else UNKNOWN


def _with_options(scenario: Scenario, arguments: argparse.Namespace) -> Scenario:
    """Return the scenario with the moves and limits that the options add."""
    commands = tuple(RunCommand(command=command) for command in arguments.agent_may_run)
    options = scenario.explore or ExploreOptions()
    if options.moves:
        options = replace(options, moves=(*options.moves, *commands))
    elif commands:
        # Without a list of moves, those of the script are tried.
        script = scenario.script
        scenario = replace(scenario, script=replace(script, acts=(*script.acts, *commands, Stop())))
    options = replace(
        options,
        states=arguments.states or options.states,
        seconds=seconds(arguments.time, "--time") if arguments.time is not None else options.seconds,
    )
    return replace(scenario, explore=options)
