"""``hookharness try``: play a session around one hook that is given on the command line."""

from __future__ import annotations

import argparse
import shlex
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.frontends.cli.run_command import add_settings, play, settings_of
from pytest_hookharness.frontends.node_ids import anchor
from pytest_hookharness.frontends.replay_command import replay_options
from pytest_hookharness.model.moves import FIRST_PROMPT
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import Settings

_DEFAULTS = {"host": "claude-code", "then": "idle"}
_DESCRIPTION = (
    "Plays a whole session around one hook: a prompt, a shell call, an edit, and an agent that then wants "
    "to stop. Files that COMMAND names with ./ are taken from here; the hook runs in an empty throw-away "
    "workspace, or in a copy of --project. Exit status: 0 the session ends without findings, 1 it does not, "
    "2 unknown."
)


def declare(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of ``hookharness try``."""
    parser.description = _DESCRIPTION
    parser.add_argument("event", metavar="EVENT", help="the host's name of an event, such as Stop")
    parser.add_argument("command", metavar="COMMAND", help="the hook, as a shell command line")
    parser.add_argument("--host", default="claude-code", help="host to play (claude-code)")
    parser.add_argument("--project", type=Path, help="folder that is copied into the workspace")
    parser.add_argument("--git", action="store_true", help="make the workspace a committed repository")
    parser.add_argument("--then", default="idle", help="how the agent behaves (idle)")
    parser.add_argument("--matcher", help="matcher of the hook")
    parser.add_argument("--timeout", type=float, help="the hook's timeout in its settings, in seconds")
    parser.add_argument("--vary", help="also try mutations: all, or kinds such as key-order,state")
    parser.add_argument("--cov", action="store_true", help="record which lines of the hook run")
    add_settings(parser)
    parser.set_defaults(call=_call, incident=None)


def _call(arguments: argparse.Namespace) -> int:
    scenario, settings = compose(arguments), settings_of(arguments)
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


def compose(arguments: argparse.Namespace) -> Scenario:
    """Return the scenario: a prompt, a shell call, an edit, and an agent that wants to stop."""
    handler = _handler(arguments)
    acts = [
        {"prompt": FIRST_PROMPT.text},
        {"run": "echo working"},
        {"edit": {"file": "work.txt", "text": "done\n"}},
    ]
    made = scenario_files.scenario_from(
        {"name": "try", "host": arguments.host, "git": arguments.git, "hooks": {arguments.event: [handler]}}
    )
    if arguments.vary is not None:
        kinds = arguments.vary if arguments.vary == "all" else arguments.vary.split(",")
        made = replace(made, vary=scenario_files.scenario_from({"name": "try", "vary": kinds}).vary)
    profile = hosts.find(made.host)
    hosts.find_event(profile, hosts.own_event(profile, arguments.event))
    project = arguments.project.resolve() if arguments.project is not None else None
    script = scenario_files.script_from(acts, then=arguments.then)
    return replace(made, project=project, script=script, reach=(str(Path.cwd()),))


def _replay_command(arguments: argparse.Namespace, settings: Settings) -> str:
    words = ["hookharness", "try", arguments.event, arguments.command]
    for name in ("host", "project", "then", "matcher", "timeout", "vary"):
        value = getattr(arguments, name)
        if value not in (None, _DEFAULTS.get(name)):
            words += [f"--{name}", str(value)]
    words += ["--git"] if arguments.git else []
    return shlex.join([*words, *replay_options(settings)])
