"""
A scenario for a host's settings file, for projects without scenario files.

Its session triggers the configured events with calls like those of the host. Calls that guard hooks commonly
refuse get a given result, so they are never performed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.replay import GIVEN
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Compact,
    Edit,
    End,
    Read,
    RunCommand,
    Script,
    Stop,
    Subagent,
)
from pytest_hookharness.model.mutations import VARY_FAMILIES, VaryRequest
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

EVERYTHING = tuple(map(VaryRequest, VARY_FAMILIES))
_WORKSPACE = "workspace/"
_PLAIN: tuple[Act, ...] = (
    RunCommand(command="true"),
    Edit(file="file.txt", text="text\n"),
    Read(file="file.txt"),
)
_COMMONLY_REFUSED: tuple[Act, ...] = (
    RunCommand(command="rm -rf build", given=GIVEN),
    RunCommand(command="git push --force", given=GIVEN),
    RunCommand(command="git commit --no-verify -m done", given=GIVEN),
    Edit(file=".env", text="KEY=value\n", given=GIVEN),
)
_SUBAGENT = frozenset({hosts.Role.SUBAGENT_START, hosts.Role.SUBAGENT_STOP})
_COMPACTION = frozenset({hosts.Role.BEFORE_COMPACT, hosts.Role.AFTER_COMPACT})
# Enough refused stops to see how a hook reacts to a difference.
_TURNS = 16


def scenario_from_settings(file: Path, *, host: str = "", refused: Sequence[str] = ()) -> Scenario:
    """
    Return a scenario for a settings file and the project folder that it belongs to.

    Args:
        file: The file, at its place in the project.
        host: The host that reads it; empty for the first host that reads a file at this place.
        refused: Shell commands that the hooks must refuse; empty for those that guard hooks commonly refuse.

    Raises:
        SimulationError: The file does not exist, no host reads it, or it configures no hook.
        UnknownHost: There is no such host.
    """
    if file.exists() and not file.is_file():
        raise SimulationError(f"{file}: not a file; give a host's settings file, or FILE::item")
    if not file.is_file():
        raise SimulationError(f"{file}: file not found; give a host's settings file, or FILE::item")
    whole = file.resolve()
    profile, place = find_host(whole, host)
    try:
        text = whole.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"{file}: cannot be read: {error}") from error
    configuration = hosts.configure(profile, {f"{_WORKSPACE}{place}": text})
    if not configuration.hooks:
        why = "; ".join(problem.text for problem in configuration.problems) or "it configures none"
        raise SimulationError(f"{file}: {profile.id} finds no hook in it: {why}")
    roles = {profile.events[hook.event].role for hook in configuration.hooks}
    return Scenario(
        name="stress",
        host=host or profile.name,
        project=whole.parents[place.count("/")],
        hooks=place,
        script=Script(acts=tuple(_acts(roles, refused))),
        turns=_TURNS,
        vary=EVERYTHING,
        expect=Expectation(),
    )


def with_all_trials(scenario: Scenario) -> Scenario:
    """
    Return a scenario that asks for all trials.
    """
    named = {request.family for request in scenario.vary}
    return replace(
        scenario, vary=(*scenario.vary, *(request for request in EVERYTHING if request.family not in named))
    )


def find_host(file: Path, host: str) -> tuple[hosts.Profile, str]:
    """
    Return the host that reads a settings file, and the file's path in the project.

    Raises:
        SimulationError: No host reads settings at this place.
    """
    profiles = (hosts.find(host),) if host else hosts.known()
    for profile in profiles:
        for pattern in profile.settings_paths:
            inside = pattern.removeprefix(_WORKSPACE)
            place = "/".join(file.parts[-1 - inside.count("/") :])
            if inside != pattern and fnmatchcase(place, inside):
                return profile, place
    who = f"{hosts.find(host).id} reads" if host else "hosts read"
    raise SimulationError(
        f"{file}: not a place where {who} settings, such as .claude/settings.json in a project; "
        "write a scenario file with `hooks: PATH` and give that"
    )


def _acts(roles: set[hosts.Role], refused: Sequence[str]) -> Iterator[Act]:
    yield FIRST_PROMPT
    yield from _PLAIN
    yield from (RunCommand(command=command, given=GIVEN, expect="deny") for command in refused)
    yield from () if refused else _COMMONLY_REFUSED
    if roles & _SUBAGENT:
        yield Subagent()
    if roles & _COMPACTION:
        yield Compact()
    yield Stop()
    if hosts.Role.SESSION_END in roles:
        yield End()
