"""
Validation of the names in a scenario against its host.

An expectation about an event that does not exist would always be met, and prove nothing.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from pytest_hookharness import hosts
from pytest_hookharness.model.background import hook_names
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import Resume
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError


def check_references(scenario: Scenario, profile: hosts.Profile, configuration: hosts.Configuration) -> None:
    """
    Refuse a scenario whose expectations or reactions name something that its host does not have.

    Raises:
        SimulationError: The first such name, with the nearest known name.
    """
    events = tuple(profile.events)
    _check_options(scenario, profile)
    for name in scenario.hidden:
        if name in scenario.commands:
            raise SimulationError(f"hidden: {name!r} is also a double under `commands`; remove one of them")
    _check_hooks_of_processes(scenario)
    _check_stand_ins(scenario)
    _check_forks(scenario, profile)
    for path, name in (*_expected(scenario.expect), *_reactions(scenario)):
        try:
            hosts.find_event(profile, name)
        except ValueError as error:
            raise SimulationError(f"{path}: {error}") from None
    if configuration.problems:
        # A command may be in a file that the host rejects, and be expected not to run.
        return
    commands = [hook.command for hook in configuration.hooks]
    for word in scenario.expect.hook_runs:
        if word not in events and not any(word in command for command in commands):
            raise SimulationError(
                f"expect.fires: {word!r} is neither an event of {profile.id} nor part of a configured command"
                f"{_nearest(word, events)}"
            )


def _check_options(scenario: Scenario, profile: hosts.Profile) -> None:
    known = profile.options
    for name, value in scenario.options.items():
        if name not in known:
            hint = _nearest(name, tuple(known)) if known else "; it has no options"
            raise SimulationError(f"options: {profile.id} has no option {name!r}{hint}")
        wanted = known[name].default
        if type(value) is not type(wanted):
            kind = type(wanted).__name__
            raise SimulationError(f"options.{name}: expected a {kind} like {wanted!r}, got {value!r}")
        choices = known[name].choices
        if choices and value not in choices:
            raise SimulationError(f"options.{name}: unknown value {value!r}{_nearest(str(value), choices)}")


def _check_hooks_of_processes(scenario: Scenario) -> None:
    hooks = (name for item in scenario.processes.items() for name in hook_names(*item))
    known = (*scenario.processes, *hooks)
    for word in scenario.expect.processes.threads:
        if word not in known:
            raise SimulationError(
                f"expect.processes.threads: {word!r} is no process and no hook of one{_nearest(word, known)}"
            )


def _check_forks(scenario: Scenario, profile: hosts.Profile) -> None:
    forks = any(isinstance(act, Resume) and act.fork for act in scenario.script.acts)
    if forks and "fork" not in profile.turns.rules:
        raise SimulationError(
            f"resume: how {profile.id} forks a session is not known to the harness; write `resume: true`"
        )


def _check_stand_ins(scenario: Scenario) -> None:
    for name in scenario.fake_agents:
        agent = scenario.commands[name].agent
        try:
            profile = hosts.find(agent)
        except hosts.UnknownHost as error:
            raise SimulationError(f"commands.{name}.agent: {error}") from None
        if profile.calling is None:
            known = ", ".join(dict.fromkeys(each.name for each in hosts.known() if each.calling))
            raise SimulationError(
                f"commands.{name}.agent: the command line of {profile.id} is unknown here; "
                f"there are fake agents for {known}"
            )


def _expected(expect: Expectation) -> Iterator[tuple[str, str]]:
    if isinstance(expect.blocks, dict):
        yield from (("expect.blocks", name) for name in expect.blocks)
    yield from (("expect.decisions", name) for name in expect.decisions)
    yield from (("expect.sometimes", word.partition(":")[0]) for word in expect.sometimes)


def _reactions(scenario: Scenario) -> Iterator[tuple[str, str]]:
    for place, reaction in enumerate(scenario.script.reactions):
        if reaction.event:
            yield f"when[{place}].event", reaction.event


def _nearest(name: str, known: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(known)}"
