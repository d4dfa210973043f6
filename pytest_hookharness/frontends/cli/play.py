"""``hookharness run`` and ``try``: play one simulation. Also the options of all commands that play."""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import agents, hosts, scenario_files
from pytest_hookharness.frontends import option_types, screen
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.node_ids import anchor, pick
from pytest_hookharness.frontends.replay_command import (
    TIERS,
    TraceItem,
    header,
    replay_command,
    replay_options,
)
from pytest_hookharness.frontends.screen import shell_line
from pytest_hookharness.model.moves import FIRST_PROMPT
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal import story
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, TrialSelection

PASSED, FAILED, UNKNOWN = 0, 1, 2
_REFUSALS = (Ruling.DENY, Ruling.ASK)
_TRY_DEFAULTS = {"host": "claude-code", "then": "idle"}
_RUN = (
    "Plays one item of a scenario file, and prints its turns and its verdict. Exit status: 0 as expected, 1 "
    "not as expected, 2 unknown."
)
_TRY = (
    "Plays a whole session around one hook: a prompt, a shell call, an edit, and an agent that then wants "
    "to stop. Files that COMMAND names with ./ are taken from here; the hook runs in an empty throw-away "
    "workspace, or in a copy of --project. Exit status: 0 the session ends without findings, 1 it does not, "
    "2 unknown."
)


def add_settings(parser: argparse.ArgumentParser, *, traced_with: str = "") -> None:
    """
    Declare the options of every command that plays something.

    ``traced_with`` names the options without which a command has no traces to show or write.
    """
    only = f"with {traced_with}: " if traced_with else ""
    parser.add_argument(
        "--seed",
        type=option_types.whole_number("--seed", 0),
        default=0,
        metavar="N",
        help="seed of generated values (0)",
    )
    parser.add_argument(
        "--hook-timeout", default="10s", metavar="TIME", help="end a hook run after 500ms, 10s, 2m (10s)"
    )
    parser.add_argument(
        "--budget", default="60s", metavar="TIME", help="wall-clock time for everything (60s)"
    )
    parser.add_argument(
        "--turns",
        type=option_types.whole_number("--turns", 1),
        metavar="N",
        help="maximum number of turns (the scenario's, or 200)",
    )
    parser.add_argument("--tier", choices=tuple(TIERS), help="how hook runs are isolated (best available)")
    parser.add_argument("--keep", action="store_true", help="keep the workspace and print where it is")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help=f"{only}cut no text and leave out no turn"
    )
    parser.add_argument(
        "--trace-dir", metavar="DIR", help=f"{only}write a trace file of each simulation into DIR"
    )


def settings_of(arguments: argparse.Namespace) -> Settings:
    """Return the settings that the options select; raise ``OptionError`` for an unreadable one."""
    traces: str | None = arguments.trace_dir
    return Settings(
        seed=arguments.seed,
        hook_timeout=option_types.seconds(arguments.hook_timeout, "--hook-timeout"),
        wall=option_types.seconds(arguments.budget, "--budget"),
        turns=arguments.turns,
        tier=TIERS.get(arguments.tier or ""),
        keep=arguments.keep,
        keep_passing=True,
        traces=None if traces is None else option_types.make_folder(traces, "--trace-dir", below=Path.cwd()),
    )


def declare_run(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness run``."""
    parser.description = _RUN
    parser.add_argument(
        "item",
        metavar="NODEID",
        help="FILE::name[variant-host], as pytest prints it; FILE or FILE::name if only one item fits",
    )
    parser.add_argument(
        "--incident", type=Path, metavar="FILE", help="also write an incident report into FILE, in Markdown"
    )
    parser.add_argument("--cov", action="store_true", help="record which lines of the hooks run")
    add_settings(parser)
    parser.set_defaults(call=_run)


def _run(arguments: argparse.Namespace) -> int:
    scenario, settings = pick(arguments.item), settings_of(arguments)
    return play(scenario, settings, replay_command(scenario, settings), arguments)


def play(scenario: Scenario, settings: Settings, replay: str, arguments: argparse.Namespace) -> int:
    """Play a scenario, print its story, and return the exit status; ``replay`` repeats it."""
    if arguments.incident is not None:
        option_types.require_new(arguments.incident, "--incident")
    try:
        outcome, interrupted = _simulate(scenario, settings, replay, record_lines=arguments.cov), False
    except Interrupted as error:
        outcome, interrupted = error.outcome, True
    text = story.story(outcome, width=screen.width(), replay_command=replay, verbose=arguments.verbose)
    unknown = interrupted or (outcome.verdict_name == "undecided" and not outcome.passed)
    print(screen.headed(text, None if unknown else outcome.passed))
    if outcome.passed and (asked := getattr(arguments, "event", "")):
        _note_unseen_refusal(outcome, asked)
    if getattr(arguments, "vary", None) is not None:
        from pytest_hookharness.reports.terminal import campaign_report

        def replay_one(words: str) -> str:
            others = argparse.Namespace(**{**vars(arguments), "only": words})
            return _replay_command(others, settings)

        print(campaign_report.table(outcome, replay_one, verbose=arguments.verbose))
    if arguments.incident is not None:
        from pytest_hookharness.execution.user_files import create_file
        from pytest_hookharness.frontends.output.simulation_files import compose_incident

        create_file(arguments.incident, compose_incident(outcome, replay))
        print(f"hookharness: wrote {arguments.incident}", file=sys.stderr)
    if unknown:
        return UNKNOWN
    return PASSED if outcome.passed else FAILED


def _note_unseen_refusal(outcome: Outcome, event: str) -> None:
    """Say of a hook before calls that refused nothing that its refusals were not seen, so not tried."""
    profile = hosts.find(outcome.scenario.host)
    role = profile.events[hosts.own_event(profile, event)].role
    refused = any(hooked.decision.ruling in _REFUSALS for _, hooked in outcome.trace.hooked())
    if role is hosts.Role.BEFORE_TOOL and not refused:
        calls = "a shell command and an edit"
        print(
            f"note: the hook refused none of the calls of this session ({calls}); `hookharness check` tries "
            "what guards refuse, and a scenario makes the call that you mean",
            file=sys.stderr,
        )


def _simulate(scenario: Scenario, settings: Settings, replay: str, *, record_lines: bool) -> Outcome:
    if record_lines:
        from pytest_hookharness.frontends.coverage_data import recording

        with recording() as store:
            return _simulate(scenario, replace(settings, coverage_store=store), replay, record_lines=False)
    print(header(settings))
    with Harness(settings, line=shell_line(sys.stderr)) as harness:
        return harness.simulate(scenario, item=TraceItem.of_scenario(scenario, replay))


def declare_try(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness try``."""
    parser.description = _TRY
    parser.add_argument("event", metavar="EVENT", help="the host's name of an event, such as Stop")
    parser.add_argument("command", metavar="COMMAND", help="the hook, as a shell command line")
    known = ", ".join(name for name in hosts.names() if "@" not in name)
    parser.add_argument("--host", default="claude-code", help=f"host to play: {known} (claude-code)")
    parser.add_argument(
        "--project",
        type=Path,
        metavar="DIR",
        help="folder that is copied into the workspace; hooks that its settings name do not run",
    )
    parser.add_argument(
        "--git",
        action="store_true",
        help="make the workspace a committed repository, as the copy of one is in any case",
    )
    parser.add_argument(
        "--then",
        default="idle",
        metavar="NAME[,OPTION=VALUE]",
        help=f"how the agent behaves, for example promising,tag=DONE: {', '.join(agents.BEHAVIOURS)} (idle)",
    )
    parser.add_argument("--matcher", metavar="PATTERN", help="matcher of the hook")
    parser.add_argument(
        "--timeout", type=float, metavar="SECONDS", help="the hook's timeout in its settings, in seconds"
    )
    parser.add_argument(
        "--vary", metavar="KINDS", help="also try mutations: all, or kinds such as key-order,state"
    )
    parser.add_argument("--only", default="", metavar="NAME", help="try only this mutation, or this kind")
    parser.add_argument("--cov", action="store_true", help="record which lines of the hook run")
    add_settings(parser)
    parser.set_defaults(call=_try, incident=None)


def _try(arguments: argparse.Namespace) -> int:
    if arguments.only and arguments.vary is None:
        raise option_types.OptionError("--only needs --vary")
    scenario, settings = compose(arguments), settings_of(arguments)
    if arguments.only:
        settings = replace(settings, choice=TrialSelection(only=arguments.only))
    root = hosts.find(arguments.host).config.plugin_root
    if root and re.search(rf"\${{?{root}\b", arguments.command):
        words = "name the script by its path, or write a scenario with `plugin:`"
        print(f"note: {root} is empty, because `try` plays without a plugin; {words}", file=sys.stderr)
    return play(scenario, settings, _replay_command(arguments, settings), arguments)


def _handler(arguments: argparse.Namespace) -> dict[str, object]:
    """Return the hook as the settings of its host would have it, in the short form that every host reads."""
    config = hosts.find(arguments.host).config
    handler: dict[str, object] = {} if config.untyped else {config.keys.type: "command"}
    handler[config.types["command"]] = anchor(arguments.command, Path.cwd())
    if arguments.timeout is not None:
        handler[config.keys.timeout] = arguments.timeout
    if arguments.matcher is not None:
        handler["matcher"] = arguments.matcher
    return handler


_ACTS = (
    {"prompt": FIRST_PROMPT.text},
    {"run": "echo working"},
    {"edit": {"file": "work.txt", "text": "done\n"}},
)


def compose(arguments: argparse.Namespace) -> Scenario:
    """Return the scenario: a prompt, a shell call, an edit, and an agent that wants to stop."""
    hooks = {arguments.event: [_handler(arguments)]}
    project = arguments.project.resolve() if arguments.project is not None else None
    # As in a scenario file, the copy of a repository is one.
    git = arguments.git or (project is not None and (project / ".git").exists())
    made = scenario_files.scenario_from({"name": "try", "host": arguments.host, "git": git, "hooks": hooks})
    if arguments.vary is not None:
        kinds = arguments.vary if arguments.vary == "all" else arguments.vary.split(",")
        made = replace(made, vary=scenario_files.scenario_from({"name": "try", "vary": kinds}).vary)
    profile = hosts.find(made.host)
    hosts.find_event(profile, hosts.own_event(profile, arguments.event))
    script = scenario_files.script_from(_ACTS, then=_behaviour(arguments.then))
    return replace(made, project=project, script=script, reach=(str(Path.cwd()),))


def _behaviour(text: str) -> object:
    """Return a behaviour with options, as in a scenario file; raise ``OptionError`` for a wrong one."""
    name, *options = text.split(",")
    given: dict[str, object] = {}
    numbers = agents.number_options(name)
    for option in options:
        key, equals, value = option.partition("=")
        if not equals:
            raise option_types.OptionError(f"--then: {option!r} has no value; write {name},{option}=VALUE")
        given[key] = option_types.whole(value, f"--then {key}", 0) if key in numbers else value
    return {name: given} if given else name


def _replay_command(arguments: argparse.Namespace, settings: Settings) -> str:
    words = ["hookharness", "try", arguments.event, arguments.command]
    for name in ("host", "project", "then", "matcher", "timeout", "vary", "only"):
        value = getattr(arguments, name)
        if value not in (None, "", _TRY_DEFAULTS.get(name)):
            words += [f"--{name}", str(value)]
    words += ["--git"] if arguments.git else []
    return shlex.join([*words, *replay_options(settings)])
