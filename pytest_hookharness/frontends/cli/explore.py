"""
``hookharness explore``: whether given hooks can lock an agent in.
"""

from __future__ import annotations

import argparse
import shlex
import shutil
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.campaigns.run import simulate
from pytest_hookharness.campaigns.scenario_from_settings import draft
from pytest_hookharness.frontends.harness import Harness, header, options
from pytest_hookharness.frontends.node_ids import pick
from pytest_hookharness.frontends.option_types import seconds
from pytest_hookharness.model.exploration import ExploreOptions
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand, Script, Stop
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal.exploration_report import conclude
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings

FREE, LOCKED, UNKNOWN = 0, 1, 2
_SUFFIX = ".scenario.yaml"
DESCRIPTION = (
    "Tries all moves that an agent may make with the hooks of a settings file, or of one item of a scenario "
    "file, in every state that these lead to, and looks for a state from which none leads to a stop. "
    "docs/exploration.md says what that shows and what not. Exit status: 0 there is none, 1 there is one, "
    "2 it could not be told."
)


def explore(
    scenario: Scenario, executor: Executor | None = None, settings: Settings | None = None
) -> Outcome:
    """
    Play a scenario, and explore what else an agent could do with its hooks.

    Args:
        scenario: What to explore, as far as its own `explore` says; else with moves that are named somewhere.
        executor: Who tries the moves, in whatever processes and on whatever machines; ``None`` for this one.
        settings: The settings of the run.

    Returns:
        Its outcome; ``explored`` is what was found.
    """
    with Harness(settings or Settings()) as harness:
        return simulate(
            replace(scenario, explore=scenario.explore or ExploreOptions()),
            settings=harness.settings,
            supervisor=harness.supervisor,
            base=harness.base,
            behaviours=harness.behaviours,
            executor=executor,
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
        "--run", action="append", default=[], metavar="COMMAND", help="a command that the agent may run"
    )
    parser.add_argument("--states", type=number, metavar="N", help="most states that are tried (200)")
    parser.add_argument("--time", metavar="TIME", help="most time to explore (30s), of what --budget leaves")


def tell(arguments: argparse.Namespace, settings: Settings) -> int:
    """
    Explore, and print what was found.
    """
    scenario = compose(arguments)
    print(header(settings))
    try:
        outcome, interrupted = explore(scenario, settings=settings), False
    except Interrupted as error:
        outcome, interrupted = error.outcome, True
        print("\ninterrupted: this was seen until then")
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
    print(story.story(replace(outcome, violations=()), width=width, again=_again(arguments, settings)))
    print(conclude(outcome.explored))
    return UNKNOWN if interrupted else judge(outcome)


def compose(arguments: argparse.Namespace) -> Scenario:
    """
    The scenario that the words come to: an agent that has a prompt, and may do what is named.
    """
    target: str = arguments.target
    if "::" in target or target.endswith(_SUFFIX):
        scenario = pick(target)
    else:
        scenario = replace(
            draft(Path(target), host=arguments.host),
            vary=(),
            parallel=None,
            script=Script(acts=(FIRST_PROMPT,)),
        )
    commands = tuple(RunCommand(command=command) for command in arguments.run)
    wish = scenario.explore or ExploreOptions()
    if wish.moves:
        wish = replace(wish, moves=(*wish.moves, *commands))
    elif commands:
        script = scenario.script
        scenario = replace(scenario, script=replace(script, acts=(*script.acts, *commands, Stop())))
    wish = replace(
        wish,
        states=arguments.states or wish.states,
        seconds=seconds(arguments.time, "--time") if arguments.time is not None else wish.seconds,
    )
    return replace(scenario, explore=wish)


def judge(outcome: Outcome) -> int:
    """
    The exit status that an outcome comes to.
    """
    if outcome.explored is None or outcome.explored.trap is not None:
        return LOCKED
    return FREE if outcome.explored.covered else UNKNOWN


def _again(arguments: argparse.Namespace, settings: Settings) -> str:
    words = ["hookharness", "explore", arguments.target]
    for name in ("host", "states", "time"):
        value = getattr(arguments, name)
        words += [f"--{name}", str(value)] if value else []
    for command in arguments.run:
        words += ["--run", command]
    return shlex.join([*words, *options(settings)])
