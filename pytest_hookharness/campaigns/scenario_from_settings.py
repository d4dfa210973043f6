"""
A scenario for hooks that have none: the session of `check --stress`.

It triggers every configured event, with calls as the host itself would make them. Calls that guards commonly
refuse have their results already (``given``), so that none of them is carried out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.stress.first_run import GIVEN
from pytest_hookharness.model.checkup import HookSet
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
# Enough refused stops to see how a hook reacts to a mutation.
_TURNS = 16


def scenario_from_settings(hook_set: HookSet, *, host: str = "", refused: Sequence[str] = ()) -> Scenario:
    """
    Return a scenario that triggers the hooks of a hook set.

    Args:
        host: The host to play, with or without a version; empty for the one of the hook set.
        refused: Shell commands that the hooks must refuse; empty for those that guards commonly refuse.

    Raises:
        SimulationError: The settings configure no hook.
        UnknownHost: There is no such host.
    """
    profile = hosts.find(host or hook_set.host)
    if not hook_set.hooks:
        flaws = "; ".join(hook_set.flaws) or "it names none"
        file = hook_set.root / hook_set.files[0]
        raise SimulationError(f"{file}: {profile.id} finds no hook in it: {flaws}")
    roles = {profile.events[hook.event].role for hook in hook_set.hooks}
    return Scenario(
        name="check",
        host=host or hook_set.host,
        project=None if hook_set.plugin else hook_set.root,
        plugin=hook_set.root if hook_set.plugin else None,
        hooks=hook_set.inline or hook_set.only or None,
        env=hook_set.env,
        git=hook_set.git,
        script=Script(acts=tuple(_acts(roles, refused))),
        turns=_TURNS,
        vary=EVERYTHING,
        parallel=Parallel(),
        expect=Expectation(),
    )


def with_all_trials(scenario: Scenario) -> Scenario:
    """Return the same scenario with every family of mutations and with parallel hook runs."""
    named = {request.family for request in scenario.vary}
    others = (request for request in EVERYTHING if request.family not in named)
    return replace(scenario, vary=(*scenario.vary, *others), parallel=scenario.parallel or Parallel())


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
