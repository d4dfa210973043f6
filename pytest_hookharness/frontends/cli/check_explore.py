"""``hookharness check --explore``: whether hooks can lock an agent in."""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace

from pytest_hookharness.frontends.checkup import CLEAN, FOUND, UNKNOWN, campaign_headline
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.option_types import seconds
from pytest_hookharness.frontends.progress import shell_line
from pytest_hookharness.frontends.replay_command import replay_options
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand, Script, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal.exploration_report import conclusion_of
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings


def explore_hook_set(
    scenario: Scenario, arguments: argparse.Namespace, settings: Settings, target: Sequence[str]
) -> int:
    """Explore the hooks of a drafted scenario: its agent has a prompt, and may do what the options name."""
    return explore_item(
        replace(scenario, vary=(), script=Script(acts=(FIRST_PROMPT,))), arguments, settings, target
    )


def explore_item(
    scenario: Scenario, arguments: argparse.Namespace, settings: Settings, target: Sequence[str]
) -> int:
    """
    Explore a scenario, print what was found, and return the exit status.

    Args:
        scenario: The scenario.
        arguments: The options of the command.
        settings: The settings.
        target: The words of the command that name the scenario.
    """
    print(campaign_headline("exploration", scenario, settings))
    interrupted = False
    with Harness(settings, line=shell_line(sys.stderr)) as harness:
        try:
            outcome = harness.simulate(_with_options(scenario, arguments))
        except Interrupted as error:
            outcome, interrupted = error.outcome, True
            print("\ninterrupted: this was seen until then")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
    replay = _replay_command(arguments, settings, target)
    print(story.story(replace(outcome, violations=()), width=width, replay_command=replay))
    print(conclusion_of(outcome.explored))
    if interrupted:
        # Ctrl-C ends the whole command, not only this hook set.
        raise KeyboardInterrupt
    return judge(outcome)


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


def judge(outcome: Outcome) -> int:
    """Return the exit status of an explored scenario."""
    if outcome.explored is None or outcome.explored.trap is not None:
        return FOUND
    return CLEAN if outcome.explored.covered else UNKNOWN


def _replay_command(arguments: argparse.Namespace, settings: Settings, target: Sequence[str]) -> str:
    words = ["hookharness", "check", "--explore", *target]
    for name in ("states", "time"):
        value = getattr(arguments, name)
        words += [f"--{name}", str(value)] if value else []
    for command in arguments.agent_may_run:
        words += ["--agent-may-run", command]
    return shlex.join([*words, *replay_options(settings)])
