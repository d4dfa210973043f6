"""The objects that the fixtures give to a test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.agents.payloads import make_payload
from pytest_hookharness.frontends.node_ids import pick
from pytest_hookharness.frontends.pytest_plugin.test_context import TestContext
from pytest_hookharness.model.moves import Script
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import DoubleCall
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.simulation.testbed.host_actions import run_event


class HookLoop:
    """Simulates a whole session and returns its outcome."""

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, scenario: Scenario | str | Path | None = None, /, **keys: Any) -> Outcome:
        """
        Play a scenario, an item of a scenario file (``FILE::name[...]``), or one made of keywords.

        Keywords with a capital first letter are events, and their values are hooks. All others are keys of a
        scenario file, including ``agent`` and ``then``.

        Raises:
            ValueError: A keyword or its value is not one a scenario can have.
        """
        if scenario is None:
            return self._context.simulate(self._context.scenario(keys))
        if isinstance(scenario, Scenario):
            return self._context.simulate(replace(scenario, **keys) if keys else scenario)
        name = str(scenario)
        if "::" not in name and not name.endswith(".scenario.yaml"):
            raise ValueError(
                f"hook_loop({name!r}): this is not a scenario file; to play a session with a hook, name its "
                f"event: hook_loop(Stop={name!r})"
            )
        return self._context.simulate(pick(name, self._context.folder))


class HookFire:
    """Runs the hooks of one event once and returns the host's decision."""

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, event: str, command: Json = None, /, **fields: Any) -> Response:
        """
        Run the hooks of an event: one ``command``, a list of them, or those that the workspace configures.

        Keywords are fields of the event's payload; all other fields are generated from the seed.

        Raises:
            ValueError: The host has no such event, the event has no such field, or no hook ran.
        """
        scenario = self._context.scenario({event: command} if command is not None else {})
        response = run_event(self._context.testbed(scenario), event, fields)
        self._context.results.responses.append(response)
        if not response.hook_runs:
            raise ValueError(
                f"hook_fire({event!r}): no hook ran; either none is configured for this event, "
                f"or no matcher matches {response.hooked.target!r}"
            )
        return response


class HookPayload:
    """Generates the payload of an event, as its host would write it."""

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, event: str, /, *, host: str = "claude-code", **fields: Any) -> dict[str, Any]:
        """
        Return the payload of an event; fields that are not given are generated from the seed.

        Raises:
            ValueError: The host has no such event, or the event has no such field.
        """
        profile = hosts.find(host)
        rule, seed = hosts.find_event(profile, event), self._context.harness.settings.seed

        def sample(folder: str, operations: tuple[hosts.Operation, ...]) -> Mapping[str, Any]:
            facts = hosts.facts(profile, workspace=folder, home=folder, tmp=folder, seed=seed)
            return hosts.sample_values(profile, rule, facts, fields, operations)

        return make_payload(rule.fields, seed=seed, sample=sample, **fields)


class HookWorkspace:
    """Sets up the workspace that the other hook fixtures of a test start from."""

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, **keys: Any) -> HookWorkspace:
        """Set keys of a scenario for every simulation of this test, such as ``git=True``."""
        self._context.keys.update(keys)
        return self

    def write(self, path: str, text: str) -> HookWorkspace:
        """Add a file; it is executable if its text begins with ``#!``."""
        self._context.keys.setdefault("files", {})[path] = text
        return self


class ScriptMaker:
    """Makes scripted agents."""

    def __call__(self, *acts: Mapping[str, Any], then: Any = None, when: Any = None) -> Script:
        """
        Return a script of acts, as in a scenario file: ``{"run": "make"}, {"stop": "Done."}``.

        Raises:
            ValueError: An agent has no such act.
        """
        return scenario_files.script_from(list(acts), then=then, when=when)


class Command:
    """A test double for a command, with its calls."""

    def __init__(self, context: TestContext, name: str) -> None:
        self._context = context
        self.name = name

    @property
    def calls(self) -> Sequence[DoubleCall]:
        """Every call so far: arguments, standard input if it had its own, working folder."""
        return self._context.calls(self.name)


class CommandMaker:
    """Puts test doubles first on the PATH of the hooks and of the agent's shell."""

    def __init__(self, context: TestContext, defaults: Mapping[str, Any]) -> None:
        self._context = context
        self._defaults = defaults

    def __call__(self, name: str, **how: Any) -> Command:
        """
        Replace a command. The keywords are those of ``commands`` in a scenario file.

        Raises:
            ValueError: There is no such keyword.
        """
        keys = {"name": "double", "commands": {name: {**self._defaults, **how}}}
        self._context.commands.update(scenario_files.scenario_from(keys).commands)
        return Command(self._context, name)
