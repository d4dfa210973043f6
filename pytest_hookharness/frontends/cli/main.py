"""
The shell: ``hookharness run``, ``entry``, ``try`` and what only tells.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TextIO

import pytest

from pytest_hookharness import __version__, hosts, scenario_files
from pytest_hookharness.frontends import coverage_data
from pytest_hookharness.frontends.cli import check_command, explore, init, record, stress, try_hook
from pytest_hookharness.frontends.cli import report as reporting
from pytest_hookharness.frontends.harness import TIERS, TROUBLE, Harness, again, header
from pytest_hookharness.frontends.node_ids import pick
from pytest_hookharness.frontends.option_types import seconds, whole
from pytest_hookharness.frontends.output import incident_files
from pytest_hookharness.frontends.output.trace_files import TraceItem
from pytest_hookharness.frontends.progress import shell_line
from pytest_hookharness.judging.findings.codes import look_up_ending
from pytest_hookharness.judging.findings.finding_catalogue import catalogue, look_up, nearest
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.reports.terminal.host_facts import (
    codes_table,
    describe_findings,
    explanation,
    hosts_table,
)
from pytest_hookharness.reports.trace.schema import schema as trace_schema
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings

KEPT, BROKEN, UNUSABLE = 0, 1, 2
# What is told in a line, without a traceback.
_CLEAR: tuple[type[Exception], ...] = (*TROUBLE, ValueError, OSError, pytest.UsageError)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="hookharness", description="Simulate agent hosts, fire real hooks, and say whether it ever ends."
    )
    parser.add_argument("--version", action="version", version=f"hookharness {__version__}")
    parser.set_defaults(tell=_tell)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    shared = argparse.ArgumentParser(add_help=False)
    shared.add_argument(
        "--seed", type=_whole("--seed", 0), default=0, help="seed of everything that is made up (0)"
    )
    shared.add_argument("--hook-timeout", default="10s", help="end a hook run after this time (10s)")
    shared.add_argument("--budget", default="60s", help="wall time for all of it (60s)")
    shared.add_argument("--turns", type=_whole("--turns", 1), help="most turns that are played")
    shared.add_argument("--tier", choices=tuple(TIERS), help="how fires are kept apart (best available)")
    shared.add_argument("--keep", action="store_true", help="keep the workspace and say where")

    shown = argparse.ArgumentParser(add_help=False, parents=[shared])
    shown.add_argument("--trace-dir", metavar="DIR", help="write down what is seen into a file in DIR")
    shared.set_defaults(trace_dir=None)

    run = commands.add_parser("run", parents=[shown], help="play exactly one item of a scenario file")
    run.add_argument(
        "item", metavar="NODEID", help="FILE::name[variant-host], as pytest and reports print it"
    )
    run.set_defaults(
        scenario=_from_file, replay_command=lambda _, scenario, settings: again(scenario, settings)
    )

    page = commands.add_parser(
        "entry", parents=[shown], help="play one item and write a debugging entry about it, in Markdown"
    )
    page.add_argument("item", metavar="NODEID", help="as for run; an expected verdict is told as any other")
    page.add_argument("-o", "--output", type=Path, metavar="FILE", help="a new file (standard output)")
    page.set_defaults(
        scenario=_from_file, replay_command=run.get_default("replay_command"), tell=_write_entry
    )

    once = commands.add_parser(
        "try",
        parents=[shown],
        help="close the loop on one hook, without any file",
        description=try_hook.DESCRIPTION,
    )
    try_hook.add_arguments(once)
    once.set_defaults(scenario=try_hook.compose, replay_command=try_hook.again)

    everything = commands.add_parser(
        "stress", parents=[shown], help="try everything on given hooks", description=stress.DESCRIPTION
    )
    stress.add_arguments(everything, _whole("--most", 1))
    everything.set_defaults(scenario=stress, tell=lambda given: stress.tell(given, _settings(given)))

    for played in (run, once):
        played.add_argument("--cov", action="store_true", help="record which lines of the hooks run")
    _add_searches(commands.add_parser, shared)
    _add_preparations(commands.add_parser)
    _add_tellers(commands.add_parser)
    parser.set_defaults(status=KEPT)
    return parser


def _add_preparations(add: Callable[..., argparse.ArgumentParser]) -> None:
    """
    Commands that prepare scenarios and payloads.
    """
    first = add("init", help="write first scenarios for the hooks of a project", description=init.DESCRIPTION)
    init.add_arguments(first)
    first.set_defaults(scenario=init, tell=init.tell)
    kept = add("record", help="keep the payloads of a real agent", description=record.DESCRIPTION)
    record.add_arguments(kept)
    kept.set_defaults(scenario=record, tell=record.tell)


def _add_searches(add: Callable[..., argparse.ArgumentParser], shared: argparse.ArgumentParser) -> None:
    """
    Commands that look for what is wrong, without a scenario.
    """
    wrong = add(
        "check", parents=[shared], help="say what is wrong with hooks", description=check_command.DESCRIPTION
    )
    check_command.add_arguments(wrong)
    wrong.set_defaults(scenario=check_command, tell=lambda given: check_command.tell(given, _settings(given)))
    free = add(
        "explore",
        parents=[shared],
        help="look for lock-outs of given hooks",
        description=explore.DESCRIPTION,
    )
    explore.add_arguments(free, _whole("--states", 1))
    free.set_defaults(scenario=explore, tell=lambda given: explore.tell(given, _settings(given)))


def _add_tellers(add: Callable[..., argparse.ArgumentParser]) -> None:
    """
    Commands that only tell something.
    """
    known = add("hosts", help="list the hosts that can be played, and how well each is known")
    known.set_defaults(scenario=None, told=lambda _: hosts_table(list(map(hosts.summarise, hosts.known()))))
    means = add("explain", help="tell what each way in which a hook can end means to a host")
    means.add_argument("host", metavar="HOST", help="a host, with or without a version")
    means.add_argument("event", metavar="EVENT", nargs="?", default="", help="one of its events (all)")
    means.set_defaults(
        scenario=None, told=lambda given: explanation(hosts.explain(hosts.find(given.host), given.event))
    )
    transcript = add("analyze", help="look for loops in the transcript of a real agent", description=_ANALYZE)
    transcript.add_argument("file", metavar="FILE", type=Path, help="a transcript, or a folder of events")
    transcript.add_argument("--json", action="store_true", help="print JSON")
    for name, what in (
        ("repetitions", "how often a sequence must come"),
        ("failures", "how many must fail alike"),
    ):
        option = f"--{name}"
        transcript.add_argument(option, type=_whole(option, 2), default=3, help=f"{what} (3)")
    transcript.add_argument(
        "--window", type=_whole("--window", 1), default=24, help="how many actions a loop may span (24)"
    )
    transcript.set_defaults(scenario=None, told=_analysis)
    kinds = add("findings", help="list all kinds of findings, or tell what, why and how to mend some")
    kinds.add_argument("codes", metavar="CODE", nargs="*", help="codes or names, as HH001 or livelock (all)")
    kinds.set_defaults(scenario=None, told=lambda given: _findings(given.codes))
    schema = add("schema", help="print the JSON Schema of scenario files, or of trace files")
    schema.add_argument("--trace", action="store_true", help="the one of trace files")
    schema.set_defaults(
        scenario=None,
        told=lambda given: json.dumps((trace_schema if given.trace else scenario_files.schema)(), indent=2),
    )
    report = add("report", help="tell what trace files hold", description=reporting.DESCRIPTION)
    reporting.add_arguments(report)
    report.set_defaults(scenario=None, told=reporting.tell)


def _analysis(given: argparse.Namespace) -> str:
    from pytest_hookharness.frontends.cli.report import analyze
    from pytest_hookharness.judging.detectors.messages import Limits
    from pytest_hookharness.reports.terminal.loops import as_json, describe_loops

    limits = Limits(repetitions=given.repetitions, failures=given.failures, window=given.window)
    analysis = analyze(given.file, limits)
    given.status = BROKEN if analysis.loops else KEPT
    return json.dumps(as_json(analysis), indent=2) if given.json else describe_loops(analysis)


def _findings(words: Sequence[str]) -> str:
    """
    Some kinds of findings in full, or all in a line each.

    Raises:
        ValueError: There is no such kind.
    """
    known = {word: look_up(word) or look_up_ending(word) for word in words}
    strange = [word for word, code in known.items() if code is None]
    if strange:
        near = nearest(strange[0])
        meant = f"did you mean {near!r}?" if near else "without one, all are listed"
        raise ValueError(f"findings: {strange[0]!r} is neither code nor name; {meant}")
    found = [code for code in known.values() if code is not None]
    return describe_findings(found) if found else codes_table(catalogue())


def _whole(option: str, least: int) -> Callable[[str], int]:
    return lambda text: whole(text, option, least)


_ANALYZE = (
    "Reads what Claude Code, Codex or OpenHands wrote of a session, told apart by its content, and names the "
    "loops of the agent's own moves; docs/loop-detection.md says what is one. Exit status: 0 none, 1 loops, "
    "2 it could not be read."
)


def _from_file(arguments: argparse.Namespace) -> Scenario:
    return pick(arguments.item)


def _settings(arguments: argparse.Namespace) -> Settings:
    traces: str | None = arguments.trace_dir
    return Settings(
        seed=arguments.seed,
        hook_timeout=seconds(arguments.hook_timeout, "--hook-timeout"),
        wall=seconds(arguments.budget, "--budget"),
        turns=arguments.turns,
        tier=TIERS.get(arguments.tier or ""),
        keep=arguments.keep,
        traces=None
        if traces is None
        else incident_files.make_folder(traces, "--trace-dir", below=Path.cwd()),
    )


def _play(scenario: Scenario, settings: Settings, repeat: str, *, to: TextIO | None = None) -> Outcome:
    print(header(settings), file=to)
    with Harness(settings, line=shell_line(sys.stderr)) as harness:
        return harness.simulate(scenario, item=TraceItem.of_scenario(scenario, repeat))


def _leave(number: int, _: object) -> None:
    # By an exception, so that everything is cleared away on the way out.
    raise SystemExit(128 + number)


def main(argv: Sequence[str] | None = None) -> int:
    """
    The console script.

    Returns:
        0 if every promise was kept, 1 if one was broken, 2 if it could not be told.
    """
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _leave)
    try:
        arguments = _parser().parse_args(argv)
        if arguments.scenario is None:
            print(arguments.told(arguments))
            status = int(arguments.status)
        else:
            status = int(arguments.tell(arguments))
        sys.stdout.flush()
    except BrokenPipeError:
        # Who reads has seen enough; what is left has nowhere to go when Python closes its output.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except KeyboardInterrupt:
        # What was seen until then is told by whoever played; before and after that there is nothing to tell.
        print("hookharness: interrupted", file=sys.stderr)
        return UNUSABLE
    except _CLEAR as error:
        said = "\n".join(plain(line, 1000) for line in str(error).splitlines())
        print(f"hookharness: {said}", file=sys.stderr)
        return UNUSABLE
    return status


def _tell(arguments: argparse.Namespace) -> int:
    scenario, settings = arguments.scenario(arguments), _settings(arguments)
    repeat = arguments.replay_command(arguments, scenario, settings)
    try:
        with coverage_data.recording(asked=arguments.cov) as ledger:
            outcome = _play(scenario, replace(settings, coverage_store=ledger), repeat)
    except Interrupted as interrupted:
        print(story.story(interrupted.outcome, replay_command=repeat))
        return UNUSABLE
    print(story.story(outcome, replay_command=repeat))
    if outcome.passed:
        return KEPT
    return UNUSABLE if outcome.verdict_name == "undecided" else BROKEN


def _write_entry(arguments: argparse.Namespace) -> int:
    """
    Play an item and write about it, whatever came of it.
    """
    scenario, settings = arguments.scenario(arguments), _settings(arguments)
    file: Path | None = arguments.output
    if file is not None:
        incident_files.require_new(file)
    repeat = arguments.replay_command(arguments, scenario, settings)
    try:
        outcome, ended = _play(scenario, settings, repeat, to=sys.stderr), KEPT
    except Interrupted as interrupted:
        outcome, ended = interrupted.outcome, UNUSABLE
    text = incident_files.compose(outcome, repeat)
    if file is None:
        print(text, end="")
    else:
        incident_files.write_new(file, text)
        print(f"hookharness: wrote {file}", file=sys.stderr)
    return ended


if __name__ == "__main__":
    raise SystemExit(main())
