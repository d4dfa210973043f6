"""
``hookharness run``: play one item of a scenario file. Also the options of all commands that play something.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.node_ids import pick
from pytest_hookharness.frontends.option_types import make_folder, require_new, seconds, whole
from pytest_hookharness.frontends.output.files import write_new
from pytest_hookharness.frontends.progress import shell_line
from pytest_hookharness.frontends.replay_command import TIERS, TraceItem, header, replay_command
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings

PASSED, FAILED, UNKNOWN = 0, 1, 2


def add_settings(parser: argparse.ArgumentParser) -> None:
    """Declare the options of every command that plays something."""
    parser.add_argument("--seed", type=whole_number("--seed", 0), default=0, help="seed of generated values")
    parser.add_argument("--hook-timeout", default="10s", help="end a hook run after this time (10s)")
    parser.add_argument("--budget", default="60s", help="wall-clock time for everything (60s)")
    parser.add_argument("--turns", type=whole_number("--turns", 1), help="maximal number of turns")
    parser.add_argument("--tier", choices=tuple(TIERS), help="how hook runs are isolated (best available)")
    parser.add_argument("--keep", action="store_true", help="keep the workspace and print where it is")
    parser.add_argument("--trace-dir", metavar="DIR", help="write a trace file of each simulation into DIR")


def settings_of(arguments: argparse.Namespace) -> Settings:
    """
    Return the settings that the options of a command amount to.

    Raises:
        OptionError: An option cannot be read.
    """
    traces: str | None = arguments.trace_dir
    return Settings(
        seed=arguments.seed,
        hook_timeout=seconds(arguments.hook_timeout, "--hook-timeout"),
        wall=seconds(arguments.budget, "--budget"),
        turns=arguments.turns,
        tier=TIERS.get(arguments.tier or ""),
        keep=arguments.keep,
        traces=None if traces is None else make_folder(traces, "--trace-dir", below=Path.cwd()),
    )


def whole_number(option: str, least: int) -> Callable[[str], int]:
    """Return the type of an option for argparse: a whole number of at least a given size."""
    return lambda text: whole(text, option, least)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness run``."""
    parser.add_argument("item", metavar="NODEID", help="FILE::name[variant-host], as pytest prints it")
    parser.add_argument(
        "--incident", type=Path, metavar="FILE", help="also write an incident report into FILE, in Markdown"
    )
    parser.add_argument("--cov", action="store_true", help="record which lines of the hooks run")
    add_settings(parser)
    parser.set_defaults(call=_call)


def _call(arguments: argparse.Namespace) -> int:
    scenario, settings = pick(arguments.item), settings_of(arguments)
    return play(scenario, settings, replay_command(scenario, settings), arguments)


def play(scenario: Scenario, settings: Settings, replay: str, arguments: argparse.Namespace) -> int:
    """
    Play a scenario, print its story, and return the exit status.

    Args:
        scenario: The scenario.
        settings: The settings.
        replay: The command that plays it once more.
        arguments: Hold ``cov`` and ``incident``: the file of the incident report, or ``None``.
    """
    if arguments.incident is not None:
        require_new(arguments.incident, "--incident")
    try:
        outcome, interrupted = _simulate(scenario, settings, replay, record_lines=arguments.cov), False
    except Interrupted as error:
        outcome, interrupted = error.outcome, True
    print(story.story(outcome, replay_command=replay))
    if arguments.incident is not None:
        from pytest_hookharness.frontends.output.incident_files import compose

        write_new(arguments.incident, compose(outcome, replay))
        print(f"hookharness: wrote {arguments.incident}", file=sys.stderr)
    if interrupted or (outcome.verdict_name == "undecided" and not outcome.passed):
        return UNKNOWN
    return PASSED if outcome.passed else FAILED


def _simulate(scenario: Scenario, settings: Settings, replay: str, *, record_lines: bool) -> Outcome:
    print(header(settings))
    item = TraceItem.of_scenario(scenario, replay)
    if not record_lines:
        with Harness(settings, line=shell_line(sys.stderr)) as harness:
            return harness.simulate(scenario, item=item)
    from pytest_hookharness.frontends.coverage_data import recording

    with recording() as store:
        settings = replace(settings, coverage_store=store)
        with Harness(settings, line=shell_line(sys.stderr)) as harness:
            return harness.simulate(scenario, item=item)
