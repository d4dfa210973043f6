"""The state that the hook fixtures of one test share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from pytest_hookharness import scenario_files
from pytest_hookharness.frontends.harness import Harness
from pytest_hookharness.frontends.node_ids import anchored
from pytest_hookharness.frontends.replay_command import TraceItem
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Script
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import DoubleCall
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation.testbed.testbed import Testbed


@dataclass(slots=True)
class TestResults:
    """
    What the simulations of a test gave, for its report.

    Attributes:
        outcomes: The outcomes of its simulations.
        responses: The responses to single events.
        seconds: The duration of a simulation that ran beside others; ``None`` for that of the test.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    seconds: float | None = None


class TestContext(AbstractContextManager["TestContext"]):
    """
    The state that the hook fixtures of one test share: test doubles, files and results.

    Attributes:
        harness: The harness of the run.
        folder: The folder of the test file; commands are relative to it.
        test: The node id of the test.
        results: What its simulations gave so far.
        keys: Scenario keys that every simulation of this test starts from.
        commands: The test doubles, by command name.
    """

    def __init__(self, harness: Harness, folder: Path, test: str = "") -> None:
        self.harness = harness
        self.folder = folder
        self.test = test
        self.results = TestResults()
        self.keys: dict[str, Any] = {}
        self.commands: dict[str, Double] = {}
        self._testbed: tuple[Scenario, Testbed] | None = None

    def __exit__(self, *_: object) -> None:
        if self._testbed is not None:
            self._testbed[1].close()

    def calls(self, name: str) -> tuple[DoubleCall, ...]:
        """Return every call of a test double so far, in simulations and single events."""
        played = [call for outcome in self.results.outcomes for call in outcome.calls.get(name, ())]
        single = self._testbed[1].workspace.doubles.calls(name) if self._testbed is not None else ()
        return (*played, *single)

    def scenario(self, given: Mapping[str, Any]) -> Scenario:
        """Return a scenario from the keywords of a test, on top of what its fixtures set up."""
        keys: dict[str, Any] = {"name": "test", **self.keys}
        hooks: dict[str, Any] = {}
        for key, value in given.items():
            if key[:1].isupper():
                hooks[key] = anchored(value, self.folder)
            else:
                keys[key] = value
        if hooks:
            keys["hooks"] = hooks
        agent, then = keys.pop("agent", None), keys.pop("then", None)
        script = (
            agent if isinstance(agent, Script) else scenario_files.script_from(list(agent or []), then=then)
        )
        scenario = scenario_files.scenario_from(keys, path=self.folder / "test")
        return replace(
            scenario,
            script=script,
            commands={**self.commands, **scenario.commands},
            origin=None,
            reach=(str(self.folder),),
        )

    def simulate(self, scenario: Scenario) -> Outcome:
        """Play a scenario, and keep its outcome for the report of this test."""
        item = TraceItem.of_test(self.test, self.harness.settings.seed)
        outcome = self.harness.simulate(scenario, item=item)
        self.results.outcomes.append(outcome)
        return outcome

    def play(self, scenario: Scenario, siblings: Callable[[], Sequence[Scenario]]) -> Outcome:
        """The same, concurrently with others that will be played next."""
        played = self.harness.play(scenario, siblings)
        self.results.outcomes.append(played.outcome)
        self.results.seconds = played.seconds
        return played.outcome

    def testbed(self, scenario: Scenario) -> Testbed:
        """Return the testbed for single events; calls with the same scenario share it."""
        if self._testbed is not None and self._testbed[0] == scenario:
            return self._testbed[1]
        if self._testbed is not None:
            self._testbed[1].close()
        testbed = self.harness.open_testbed(scenario)
        self._testbed = (scenario, testbed)
        return testbed
