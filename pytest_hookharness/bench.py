"""
This module is concerned with the bench: what the hook fixtures of one test share.

Top floor.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os.path import isfile
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from pytest_hookharness import loading
from pytest_hookharness.harness import Harness, finding_names, host_names, known_behaviours
from pytest_hookharness.model.moves import Script
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Call
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.stage import Stage
from pytest_hookharness.traces import Item

_WORD = re.compile(r"(?<![^\s=])[^\s;|&<>()\"'$`*?=]+")


def anchor(command: str, folder: Path) -> str:
    """
    Write the files that a command names in full, where they exist in a folder.

    The hook itself runs in a throw-away workspace, in which such a path would point nowhere. A bare
    first word is a program to be looked up on the PATH, as in any shell.
    """

    def full(found: re.Match[str]) -> str:
        word = found[0]
        if word.startswith("/") or ("/" not in word and found.start() == 0):
            return word
        path = folder / word
        there = isfile(path)  # noqa: PTH113 -- pathlib raises where a word is too long for a name
        return shlex.quote(str(path.resolve())) if there else word

    return _WORD.sub(full, command)


def _anchored(value: Json, folder: Path) -> Json:
    match value:
        case str():
            return anchor(value, folder)
        case Mapping():
            return {
                key: _anchored(item, folder) if key == "command" or not isinstance(item, str) else item
                for key, item in value.items()
            }
        case Sequence():
            return [_anchored(item, folder) for item in value]
        case _:
            return value


@dataclass(slots=True)
class Told:
    """
    What a test was told, for its report.

    Attributes:
        outcomes: What its simulations gave.
        responses: What single events were answered.
        seconds: How long a simulation took that was played beside others; ``None`` for as long as the test.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    seconds: float | None = None


class Bench:
    """
    What the hook fixtures of one test share: its doubles, its files, what it was told.
    """

    def __init__(self, harness: Harness, folder: Path, test: str = "") -> None:
        self.harness = harness
        self.folder = folder
        self.test = test
        self.told = Told()
        self.keys: dict[str, Any] = {}
        self.commands: dict[str, Double] = {}
        self._stage: tuple[Scenario, Stage] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._stage is not None:
            self._stage[1].close()

    def calls(self, name: str) -> tuple[Call, ...]:
        """
        Every call of a double so far, in simulations and in single fires.
        """
        played = [call for outcome in self.told.outcomes for call in outcome.calls.get(name, ())]
        staged = self._stage[1].workspace.calls(name) if self._stage is not None else ()
        return (*played, *staged)

    def scenario(self, given: Mapping[str, Any]) -> Scenario:
        """
        A scenario from the words of a test, on top of what its fixtures set up.
        """
        keys: dict[str, Any] = {"name": "test", **self.keys}
        hooks: dict[str, Any] = {}
        for key, value in given.items():
            if key[:1].isupper():
                hooks[key] = _anchored(value, self.folder)
            else:
                keys[key] = value
        if hooks:
            keys["hooks"] = hooks
        agent, then = keys.pop("agent", None), keys.pop("then", None)
        script = agent if isinstance(agent, Script) else loading.script_from(list(agent or []), then=then)
        scenario = loading.scenario_from(keys, path=self.folder / "test")
        return replace(
            scenario,
            script=script,
            commands={**self.commands, **scenario.commands},
            origin=None,
            reach=(str(self.folder),),
        )

    def simulate(self, scenario: Scenario) -> Outcome:
        """
        Play a scenario, and remember its outcome for the report of this test.
        """
        item = Item.of_test(self.test, self.harness.settings.seed)
        outcome = self.harness.simulate(scenario, item=item)
        self.told.outcomes.append(outcome)
        return outcome

    def play(self, scenario: Scenario, siblings: Callable[[], Sequence[Scenario]]) -> Outcome:
        """
        The same, beside others that are to be played later.
        """
        played = self.harness.play(scenario, siblings)
        self.told.outcomes.append(played.outcome)
        self.told.seconds = played.seconds
        return played.outcome

    def stage(self, scenario: Scenario) -> Stage:
        """
        The stage for single fires; calls that start from the same scenario share it.
        """
        if self._stage is not None and self._stage[0] == scenario:
            return self._stage[1]
        if self._stage is not None:
            self._stage[1].close()
        stage = self.harness.stage(scenario)
        self._stage = (scenario, stage)
        return stage


def pick(name: str, folder: Path | None = None) -> Scenario:
    """
    The one scenario that a node id names: ``FILE::name[variant-host]``, or a file with one item.

    Raises:
        ValueError: The file has no such item; the message lists those it has.
    """
    file, _, wanted = name.partition("::")
    path = (folder or Path()) / file
    known = host_names()
    scenarios = loading.load(
        path, known_hosts=known, known_findings=finding_names(), known_behaviours=known_behaviours()
    )
    if wanted not in {"", *(scenario.id for scenario in scenarios)}:
        # The item may have been played on another host than its file names.
        others = [host for host in known if wanted.endswith((f"[{host}]", f"-{host}]"))]
        scenarios += loading.load(path, hosts=others) if others else ()
    found = [scenario for scenario in scenarios if wanted in ("", scenario.id)]
    if len(found) != 1:
        items = "\n  ".join(f"{file}::{scenario.id}" for scenario in scenarios)
        problem = f"has no item {wanted!r}" if wanted else f"has {len(scenarios)} items; name one"
        raise ValueError(f"{file} {problem}:\n  {items}")
    return found[0]
