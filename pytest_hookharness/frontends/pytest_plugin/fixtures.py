"""The objects that the fixtures give to a test, and the state that those of one test share."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from pytest_hookharness import hosts, scenario_files
from pytest_hookharness.agents.payloads import make_payload
from pytest_hookharness.frontends.harness import USER_ERRORS, Harness
from pytest_hookharness.frontends.node_ids import anchored, pick
from pytest_hookharness.frontends.replay_command import TraceItem
from pytest_hookharness.model.delivery import DoubleCall
from pytest_hookharness.model.expectations import first_few
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Script
from pytest_hookharness.model.name_hint import UnknownName
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.model.trace import HookEvent
from pytest_hookharness.simulation.session.single_event import run_event
from pytest_hookharness.simulation.testbed.testbed import Testbed

if TYPE_CHECKING:
    from pytest_hookharness.model.outcome import Outcome

_P = ParamSpec("_P")
_T = TypeVar("_T")
_MOST_KNOWN = 100
_OF_THE_TEST: tuple[type[Exception], ...] = (scenario_files.ScenarioErrors, UnknownName, *USER_ERRORS)


def _for_a_test(call: Callable[_P, _T]) -> Callable[_P, _T]:
    """Return a function whose errors end at the line of the test, if they are the test's own."""

    @functools.wraps(call)
    def called(*args: _P.args, **keys: _P.kwargs) -> _T:
        __tracebackhide__ = True
        try:
            return call(*args, **keys)
        except _OF_THE_TEST as error:
            raise error.with_traceback(None) from None

    return called


@dataclass(slots=True)
class TestResults:
    """
    What the simulations of a test gave, for its report.

    Attributes:
        seconds: The duration of a simulation that ran beside others; ``None`` for that of the test.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    seconds: float | None = None


class TestContext(AbstractContextManager["TestContext"]):
    """
    The state that the hook fixtures of one test share: test doubles, files and results.

    Attributes:
        folder: The folder of the test file; commands are relative to it.
        test: The node id of the test.
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
            self.harness.give_back(self._testbed[1])
        # pytest keeps each test to the end of the run, and nothing asks for its results any more.
        self.results.outcomes.clear()
        self.results.responses.clear()

    def calls(self, name: str) -> tuple[DoubleCall, ...]:
        """Return every call of a test double so far, in simulations and single events."""
        played = [call for outcome in self.results.outcomes for call in outcome.calls.get(name, ())]
        single = self._testbed[1].workspace.doubles.calls(name) if self._testbed is not None else ()
        return (*played, *single)

    def scenario(self, given: Mapping[str, Any]) -> Scenario:
        """Return a scenario from the keywords of a test, on top of what its fixtures set up."""
        hooks = {key: anchored(value, self.folder) for key, value in given.items() if key[:1].isupper()}
        own = {key: value for key, value in given.items() if not key[:1].isupper()}
        keys: dict[str, Any] = {"name": "test", **self.keys, **own, **({"hooks": hooks} if hooks else {})}
        agent, then = keys.pop("agent", None), keys.pop("then", None)
        scripted = isinstance(agent, Script)
        script = agent if scripted else scenario_files.script_from(list(agent or []), then=then)
        try:
            scenario = scenario_files.scenario_from(keys, path=self.folder / "test")
        except scenario_files.ScenarioErrors as errors:
            # There is no such file: the keys are keywords of the test.
            plain = [replace(problem, file=None) for problem in errors.problems]
            raise scenario_files.ScenarioErrors(plain) from None
        profile = hosts.find(scenario.host)
        for name in hooks.keys() - profile.config.events.keys():
            hosts.find_event(profile, hosts.own_event(profile, name))
        commands, reach = {**self.commands, **scenario.commands}, (str(self.folder),)
        return replace(scenario, script=script, commands=commands, origin=None, reach=reach)

    def fired_scenario(self, event: str, command: Json, host: str | None) -> Scenario:
        """Return the scenario in which a single event is fired; made once for each command line of a run."""
        keys: dict[str, Any] = {} if host is None else {"host": host}
        if command is not None:
            command = anchored(command, self.folder)
            keys["hooks"] = {event: command}
        if self.keys or self.commands or not isinstance(command, str):
            return self.scenario(keys)
        known, made_of = self.harness.fired_scenarios, (self.folder, event, command, host)
        if made_of not in known:
            if len(known) >= _MOST_KNOWN:
                known.clear()
            known[made_of] = self.scenario(keys)
        return known[made_of]

    def simulate(self, scenario: Scenario) -> Outcome:
        """Play a scenario, and keep its outcome for the report of this test."""
        item = TraceItem.of_test(self.test, self.harness.settings.seed)
        outcome = self.harness.simulate(scenario, item=item)
        self.results.outcomes.append(outcome)
        return outcome

    def play(self, scenario: Scenario, upcoming: Callable[[], Iterable[Scenario]]) -> Outcome:
        """Play a scenario concurrently with those that will be played next, and keep its outcome."""
        played = self.harness.play(scenario, upcoming)
        self.results.outcomes.append(played.outcome)
        self.results.seconds = played.seconds
        return played.outcome

    def testbed(self, scenario: Scenario) -> Testbed:
        """Return the testbed for single events; calls with the same scenario share it."""
        if self._testbed is not None:
            if self._testbed[0] == scenario:
                return self._testbed[1]
            before, self._testbed = self._testbed[1], None
            self.harness.give_back(before)
        self._testbed = (scenario, self.harness.open_testbed(scenario))
        return self._testbed[1]


class _ContextTool:
    def __init__(self, context: TestContext) -> None:
        self._context = context


class HookLoop(_ContextTool):
    """Simulates a whole session and returns its outcome."""

    @_for_a_test
    def __call__(self, scenario: Scenario | str | Path | None = None, /, **keys: Any) -> Outcome:
        """
        Play a scenario, an item of a scenario file (``FILE::name[...]``), or one made of keywords.

        Keywords with a capital first letter are events, and their values are hooks. All others are keys of a
        scenario file, including ``agent`` and ``then``.

        Raises:
            ValueError: A keyword or its value is not one a scenario can have, or the host has no such event.
        """
        if scenario is None:
            return self._context.simulate(self._context.scenario(keys))
        if isinstance(scenario, Scenario):
            return self._context.simulate(replace(scenario, **keys) if keys else scenario)
        return self._context.simulate(self._pick(str(scenario)))

    def _pick(self, name: str) -> Scenario:
        if "::" not in name and not name.endswith(".scenario.yaml"):
            raise UnknownName(
                f"hook_loop({name!r}): this is not a scenario file; to play a session with a hook, name its "
                f"event: hook_loop(Stop={name!r})"
            )
        return pick(name, self._context.folder)


class HookFire(_ContextTool):
    """Runs the hooks of one event once and returns the host's decision."""

    @_for_a_test
    def __call__(
        self, event: str, command: Json = None, /, *, host: str | None = None, **fields: Any
    ) -> Response:
        """
        Run the hooks of an event: one ``command``, a list of them, or those that the workspace configures.

        The other keywords are fields of the event's payload; those not given are generated from the seed.

        Raises:
            ValueError: The host has no such event, the event has no such field, or no hook ran.
        """
        scenario = self._context.fired_scenario(event, command, host)
        testbed = self._context.testbed(scenario)
        response = run_event(testbed, event, fields)
        self._context.results.responses.append(response)
        if not response.hook_runs:
            raise UnknownName(f"hook_fire({event!r}): no hook ran; {_why_none(testbed, response.hooked)}")
        return response


def _why_none(testbed: Testbed, hooked: HookEvent) -> str:
    own = [hook.matcher for hook in testbed.configuration.hooks if hook.event == hooked.event]
    if not own:
        return "none is configured for this event"
    matchers = first_few([f"`{matcher}`" if matcher else "none" for matcher in dict.fromkeys(own)])
    target = f" for {hooked.target!r}" if hooked.target else ""
    return f"those of this event are not{target}; their matchers: {matchers}"


class HookPayload(_ContextTool):
    """Generates the payload of an event, as its host would write it."""

    @_for_a_test
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


class HookRecordings(_ContextTool):
    """Reads the payloads that ``hookharness record`` stored."""

    @_for_a_test
    def __call__(self, path: str | Path, /) -> dict[str, list[dict[str, Any]]]:
        """
        Return the payloads of a recording, or of a folder of them, by event, in the order of time.

        Give one to ``hook_fire`` as keywords; its paths then lead into the workspace.

        Raises:
            UnreadableRecords: There is none, or one has another form.
        """
        from pytest_hookharness.scenario_files.recordings import read_recordings

        return read_recordings(self._context.folder / path)


class HookWorkspace(_ContextTool):
    """Sets up the workspace that the other hook fixtures of a test start from."""

    @_for_a_test
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

    @_for_a_test
    def __call__(self, *acts: Mapping[str, Any], then: Any = None, when: Any = None) -> Script:
        """
        Return a script of acts, as in a scenario file: ``{"run": "make"}, {"stop": "Done."}``.

        Raises:
            ValueError: An agent has no such act.
        """
        return scenario_files.script_from(list(acts), then=then, when=when)


class Command(_ContextTool):
    """A test double for a command, with its calls."""

    def __init__(self, context: TestContext, name: str) -> None:
        super().__init__(context)
        self.name = name

    @property
    def calls(self) -> Sequence[DoubleCall]:
        """Every call so far: arguments, standard input if it had its own, working folder."""
        return self._context.calls(self.name)


class CommandMaker(_ContextTool):
    """Puts test doubles first on the PATH of the hooks and of the agent's shell."""

    def __init__(self, context: TestContext, defaults: Mapping[str, Any]) -> None:
        super().__init__(context)
        self._defaults = defaults

    @_for_a_test
    def __call__(self, name: str, **how: Any) -> Command:
        """
        Replace a command. The keywords are those of ``commands`` in a scenario file.

        Raises:
            ValueError: There is no such keyword.
        """
        keys = {"name": "double", "commands": {name: {**self._defaults, **how}}}
        self._context.commands.update(scenario_files.scenario_from(keys).commands)
        return Command(self._context, name)
