"""
What the fixtures give to a test: thin doors to the one engine.
"""

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
from pytest_hookharness.simulation.testbed.single_event import ask


class HookLoop:
    """
    Simulate a whole session and give its outcome.
    """

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, scenario: Scenario | str | Path | None = None, /, **keys: Any) -> Outcome:
        """
        Play a scenario, a scenario file (``FILE`` or ``FILE::name[...]``), or one made of keywords.

        Keywords that begin with a capital letter are events and name their hooks; all others are the
        keys of a scenario file, ``agent`` and ``then`` included.

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
                f"hook_loop({name!r}): this is no scenario file; to loop on a hook, name its event: "
                f"hook_loop(Stop={name!r})"
            )
        return self._context.simulate(pick(name, self._context.folder))


class HookFire:
    """
    Fire the hooks of one event once and give the host's decision.
    """

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, event: str, command: Json = None, /, **fields: Any) -> Response:
        """
        Ask the hooks of an event: one ``command``, a list of them, or those the workspace configures.

        Keywords are fields of the event's payload; all others are made up from the seed.

        Raises:
            ValueError: The host has no such event, the event no such field, or no hook was fired.
        """
        scenario = self._context.scenario({event: command} if command is not None else {})
        response = ask(self._context.stage(scenario), event, fields)
        self._context.results.responses.append(response)
        if not response.hook_runs:
            raise ValueError(
                f"hook_fire({event!r}): no hook was fired; either none is configured for this event, "
                f"or no matcher fits {response.hooked.target!r}"
            )
        return response


class HookPayload:
    """
    Make up the payload of an event, as its host would write it.
    """

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, event: str, /, *, host: str = "claude-code", **fields: Any) -> dict[str, Any]:
        """
        The payload of an event; fields that are not given are made up from the seed.

        Raises:
            ValueError: The host has no such event, or the event no such field.
        """
        profile = hosts.find(host)
        rule, seed = hosts.find_event(profile, event), self._context.harness.settings.seed

        def sample(folder: str, operations: tuple[hosts.Operation, ...]) -> Mapping[str, Any]:
            facts = hosts.facts(profile, workspace=folder, home=folder, tmp=folder, seed=seed)
            return hosts.sample_words(profile, rule, facts, fields, operations)

        return make_payload(rule.fields, seed=seed, sample=sample, **fields)


class HookWorkspace:
    """
    Set up the workspace that the other hook fixtures of a test start from.
    """

    def __init__(self, context: TestContext) -> None:
        self._context = context

    def __call__(self, **keys: Any) -> HookWorkspace:
        """
        Keys of a scenario that every simulation of this test starts from, such as ``git=True``.
        """
        self._context.keys.update(keys)
        return self

    def write(self, path: str, text: str) -> HookWorkspace:
        """
        Add a file; a text that begins with ``#!`` makes it executable.
        """
        self._context.keys.setdefault("files", {})[path] = text
        return self


class ScriptMaker:
    """
    Write a scripted agent in a test.
    """

    def __call__(self, *acts: Mapping[str, Any], then: Any = None, when: Any = None) -> Script:
        """
        A script of acts, as in a scenario file: ``{"run": "make"}, {"stop": "Done."}``.

        Raises:
            ValueError: An act is not one that an agent can do.
        """
        return scenario_files.script_from(list(acts), then=then, when=when)


class Command:
    """
    A double of a test, with the calls that were made of it.
    """

    def __init__(self, context: TestContext, name: str) -> None:
        self._context = context
        self.name = name

    @property
    def calls(self) -> Sequence[DoubleCall]:
        """
        Every call so far: argument vector, standard input where it was its own, working folder.
        """
        return self._context.calls(self.name)


class CommandMaker:
    """
    Put stand-in commands first on the PATH of the hooks and of the agent's shell.
    """

    def __init__(self, context: TestContext, defaults: Mapping[str, Any]) -> None:
        self._context = context
        self._defaults = defaults

    def __call__(self, name: str, **how: Any) -> Command:
        """
        Replace a command; keywords are those of ``commands`` in a scenario file.

        Raises:
            ValueError: A keyword is not one of them.
        """
        keys = {"name": "double", "commands": {name: {**self._defaults, **how}}}
        self._context.commands.update(scenario_files.scenario_from(keys).commands)
        return Command(self._context, name)
