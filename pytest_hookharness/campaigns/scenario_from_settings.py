"""
Drafts: a scenario for a host's settings file that nobody wrote one for.

The session wakes what is configured, with calls as the host itself would make them. What guards
commonly refuse is only asked about, so that nothing of it is carried out.
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
from pytest_hookharness.model.mutations import VARY_FAMILIES, Parallel, VaryRequest
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
# So many refusals of stops are enough to see how a hook takes what is different.
_TURNS = 16


def draft(file: Path, *, host: str = "", refused: Sequence[str] = ()) -> Scenario:
    """
    The scenario of a settings file, with the project folder that it belongs to.

    Args:
        file: The file, at its place in the project.
        host: The host that reads it; empty for the first that looks there.
        refused: Shell commands that the hooks must refuse; without any, those that guards commonly do.

    Raises:
        SimulationError: There is no such file, no host looks there, or it configures no hook.
        UnknownHost: There is no such host.
    """
    if file.exists() and not file.is_file():
        raise SimulationError(f"{file}: is not a file; name a host's settings file, or FILE::item")
    if not file.is_file():
        raise SimulationError(f"{file}: there is no such file; name a host's settings file, or FILE::item")
    whole = file.resolve()
    profile, place = look_up(whole, host)
    try:
        text = whole.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"{file}: cannot be read: {error}") from error
    configuration = hosts.configure(profile, {f"{_WORKSPACE}{place}": text})
    if not configuration.hooks:
        said = "; ".join(problem.text for problem in configuration.problems) or "it names none"
        raise SimulationError(f"{file}: {profile.id} finds no hook in it: {said}")
    roles = {profile.events[hook.event].role for hook in configuration.hooks}
    return Scenario(
        name="stress",
        host=host or profile.name,
        project=whole.parents[place.count("/")],
        hooks=place,
        script=Script(acts=tuple(_acts(roles, refused))),
        turns=_TURNS,
        vary=EVERYTHING,
        parallel=Parallel(),
        expect=Expectation(),
    )


def stressed(scenario: Scenario) -> Scenario:
    """
    Return the same scenario with every family of mutations and with parallel hook runs.
    """
    named = {request.family for request in scenario.vary}
    others = (request for request in EVERYTHING if request.family not in named)
    return replace(scenario, vary=(*scenario.vary, *others), parallel=scenario.parallel or Parallel())


def look_up(file: Path, host: str) -> tuple[hosts.Profile, str]:
    """
    Who reads a file, and its path in the project.
    """
    profiles = (hosts.find(host),) if host else hosts.known()
    for profile in profiles:
        for pattern in profile.settings_paths:
            inside = pattern.removeprefix(_WORKSPACE)
            place = "/".join(file.parts[-1 - inside.count("/") :])
            if inside != pattern and fnmatchcase(place, inside):
                return profile, place
    who = hosts.find(host).id if host else "any host"
    raise SimulationError(
        f"{file}: that is no place where {who} looks for settings, such as .claude/settings.json below a "
        "project; write a scenario file with `hooks: PATH` and name that"
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
