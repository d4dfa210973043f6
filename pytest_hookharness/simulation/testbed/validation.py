"""
Validation of the names in a scenario against its host.

An expectation about an event that does not exist would always be met, and prove nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.model.background import hook_names
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Resume
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# A key path, and what is wrong there.
_Wrong: TypeAlias = tuple[str, str]


def check_references(scenario: Scenario, profile: hosts.Profile, configuration: hosts.Configuration) -> None:
    """
    Refuse a scenario whose expectations or reactions name something that its host does not have.

    Raises:
        SimulationError: All such names, each with its place and the nearest known name.
    """
    found = [
        *_check_options(scenario, profile),
        *_check_hidden(scenario),
        *_check_hooks_of_processes(scenario),
        *_check_stand_ins(scenario),
        *_check_forks(scenario, profile),
        *_check_events(scenario, profile),
    ]
    # A command may be in a file that the host rejects, and be expected not to run.
    found += [] if configuration.problems else _check_runs(scenario, profile, configuration)
    if found:
        raise SimulationError("\n".join(f"{place_of(scenario, path)}{path}: {text}" for path, text in found))


def place_of(scenario: Scenario, path: str) -> str:
    """Return the file and the line of a key, to be put before a message; empty if it is in no file."""
    origin = scenario.origin
    return "" if origin is None else f"{origin.file}:{origin.line(scenario.mark(path))} "


def _check_events(scenario: Scenario, profile: hosts.Profile) -> Iterator[_Wrong]:
    for path, name in (*_expected(scenario.expect), *_reactions(scenario)):
        try:
            hosts.find_event(profile, name)
        except ValueError as error:
            yield path, str(error)


def _check_runs(
    scenario: Scenario, profile: hosts.Profile, configuration: hosts.Configuration
) -> Iterator[_Wrong]:
    events = tuple(profile.events)
    commands = [hook.command for hook in configuration.hooks]
    for word in scenario.expect.hook_runs:
        if word not in events and not any(word in command for command in commands):
            where = f"neither an event of {profile.id} nor part of a configured command"
            yield "expect.fires", f"{word!r} is {where}{_nearest(word, events)}"


def _check_hidden(scenario: Scenario) -> Iterator[_Wrong]:
    for name in scenario.hidden:
        if name in scenario.commands:
            yield "hidden", f"{name!r} is also a double under `commands`; remove one of them"


def _check_options(scenario: Scenario, profile: hosts.Profile) -> Iterator[_Wrong]:
    known = profile.options
    for name, value in scenario.options.items():
        if name not in known:
            hint = _nearest(name, tuple(known)) if known else "; it has no options"
            yield "options", f"{profile.id} has no option {name!r}{hint}"
            continue
        wanted, choices = known[name].default, known[name].choices
        if type(value) is not type(wanted):
            yield f"options.{name}", f"expected a {type(wanted).__name__} like {wanted!r}, got {value!r}"
        elif choices and value not in choices:
            yield f"options.{name}", f"unknown value {value!r}{_nearest(str(value), choices)}"


def _check_hooks_of_processes(scenario: Scenario) -> Iterator[_Wrong]:
    hooks = (name for item in scenario.processes.items() for name in hook_names(*item))
    known = (*scenario.processes, *hooks)
    for word in scenario.expect.processes.threads:
        if word not in known:
            yield (
                "expect.processes.threads",
                f"{word!r} is neither a process nor a hook of a process{_nearest(word, known)}",
            )


def _check_forks(scenario: Scenario, profile: hosts.Profile) -> Iterator[_Wrong]:
    forks = any(isinstance(act, Resume) and act.fork for act in scenario.script.acts)
    if forks and "fork" not in profile.turns.rules:
        yield "resume", f"how {profile.id} forks a session is not known to the harness; write `resume: true`"


def _check_stand_ins(scenario: Scenario) -> Iterator[_Wrong]:
    for name in scenario.fake_agents:
        agent, path = scenario.commands[name].agent, f"commands.{name}.agent"
        try:
            profile = hosts.find(agent)
        except hosts.UnknownHost as error:
            yield path, str(error)
            continue
        if profile.calling is None:
            known = ", ".join(dict.fromkeys(each.name for each in hosts.known() if each.calling))
            yield path, f"the command line of {profile.id} is unknown here; there are fake agents for {known}"


def _expected(expect: Expectation) -> Iterator[tuple[str, str]]:
    if isinstance(expect.blocks, dict):
        yield from ((f"expect.blocks.{name}", name) for name in expect.blocks)
    yield from ((f"expect.decisions.{name}", name) for name in expect.decisions)
    yield from (("expect.sometimes", word.partition(":")[0]) for word in expect.sometimes)


def _reactions(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for place, reaction in enumerate(scenario.script.reactions):
        if reaction.event:
            yield f"when[{place}].event", reaction.event


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
