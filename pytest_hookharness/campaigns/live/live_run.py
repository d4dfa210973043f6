"""One scenario on the installed real program, laid out as in the simulation, with a model on loopback."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.live.comparison import Comparison, compare
from pytest_hookharness.campaigns.live.live_agent import LiveAgent
from pytest_hookharness.campaigns.live.live_record import live_record
from pytest_hookharness.campaigns.live.live_scenario import (
    InstalledProgram,
    NoProgram,
    check_recordable,
    live_form,
)
from pytest_hookharness.campaigns.live.session_record import (
    CUT,
    ENDED,
    ComparableSession,
    RecordedRun,
    of_outcome,
    read_tapped,
)
from pytest_hookharness.execution.processes.sandbox import python_program
from pytest_hookharness.execution.real_program.model_server import ModelServer
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.hosts.settings.formats import command_keys, replace_commands
from pytest_hookharness.hosts.wire.programs import PORT
from pytest_hookharness.model.moves import Prompt
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Tier, TimedOut
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import Undecided
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.single_run import Resources, run_once
from pytest_hookharness.simulation.testbed.host_setup import is_settings, settings_paths
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

_LAUNCHER = "pytest_hookharness.execution.real_program.program_launcher"
_TAP = "pytest_hookharness.execution.real_program.hook_tap"
_SMALL = 10_000
# Variables that the simulation sets and that make a real program behave differently.
_UNSET = ("SHELL", "PWD")


def play_both(
    scenario: Scenario,
    installed: InstalledProgram,
    settings: Settings,
    resources: Resources,
    observer: Observer,
) -> Comparison:
    """
    Play a scenario that has a live equivalent on both sides, and compare them.

    The exceptions are those of `record_both`. The observer sees the simulated session, and both at its end.
    """
    outcome, simulated, real = record_both(scenario, installed, settings, resources, observer)
    profile = hosts.find(scenario.host)
    found = compare(profile, installed.version, simulated, real, unordered=installed.program.unordered)
    observer.note(live_record(found, simulated, real))
    # This run does not check the expectations of the scenario.
    observer.end(replace(outcome, violations=()))
    return found


def record_both(
    scenario: Scenario,
    installed: InstalledProgram,
    settings: Settings,
    resources: Resources,
    observer: Observer,
) -> tuple[Outcome, ComparableSession, ComparableSession]:
    """
    Play a scenario that has a live equivalent, and return the outcome and the records of both sides.

    Raises:
        NoProgram: The program cannot be isolated here.
        NoLiveEquivalent: What the agent does, or a hook, has no live equivalent.
        SimulationError: One side did not end within the budget, or the program does not work.
    """
    if reason := resources.supervisor.tiers()[Tier.NAMESPACES]:
        raise NoProgram(f"real programs run only where their network can be cut off: {reason}")
    played = live_form(scenario, installed.program, settings.turns)
    settings = replace(settings, tier=Tier.NAMESPACES, probes=False, turns=None, keep=False)
    outcome, simulated = _simulate(played, settings, resources, observer)
    return outcome, simulated, play_real(played, installed, settings, resources, simulated)


def _simulate(
    scenario: Scenario, settings: Settings, resources: Resources, observer: Observer
) -> tuple[Outcome, ComparableSession]:
    seen: list[ComparableSession] = []
    noting = _LaunchNotes(observer)

    def note(testbed: Testbed, outcome: Outcome) -> None:
        testbed.scan()
        workspace = testbed.workspace
        given = _without_shell(workspace.environment)
        files = workspace_files(testbed)
        seen.append(of_outcome(outcome, files, workspace.folders, scenario.turns, noting.launches, given))

    outcome = run_once(scenario, settings, resources, observer=noting, before_close=note).outcome
    if isinstance(outcome.verdict, Undecided) and outcome.trace.turns < scenario.turns:
        raise SimulationError(
            f"the simulation is undecided, so nothing can be compared: {outcome.verdict.why}"
        )
    return outcome, seen[0]


class _LaunchNotes(Observer):
    """Notes how the hooks of a session are started; another observer sees the session too."""

    def __init__(self, observer: Observer) -> None:
        self.launches: list[ProcessSpec] = []
        self.step, self.state = observer.step, observer.state  # type: ignore[method-assign]
        self._begin = observer.begin

    def begin(self, testbed: Testbed) -> None:
        testbed.launch_receivers.append(self.launches.append)
        self._begin(testbed)


def play_real(
    scenario: Scenario,
    installed: InstalledProgram,
    settings: Settings,
    resources: Resources,
    simulated: ComparableSession,
) -> ComparableSession:
    """Play a scenario on a real program; the simulation says which event a text for the model belongs to."""
    reach = (*scenario.reach, str(installed.folder))
    # Without options no hook is left out that the real program may run, so that all are recorded.
    laid_out = replace(scenario, reach=reach, options={})
    with resources.open(laid_out, settings) as (testbed, agent):
        return _LiveRun(testbed, installed, agent, simulated, scenario.options).play()


class _LiveRun:
    def __init__(
        self,
        testbed: Testbed,
        installed: InstalledProgram,
        agent: agents.Agent,
        simulated: ComparableSession,
        options: Mapping[str, bool | int | float | str],
    ) -> None:
        self._testbed = testbed
        self._installed = installed
        workspace = testbed.workspace
        self._folder = workspace.doubles.folder / "live"
        self._log = self._folder / "hook-runs.jsonl"
        check_recordable(testbed.configuration.hooks)
        self._asks = any(hook.event == "PermissionRequest" for hook in testbed.configuration.hooks)
        self._options = options
        wrapped = self._wrapped()
        self._write_settings(wrapped)
        self._agent = LiveAgent(
            agent,
            testbed.profile,
            installed.program.wire,
            workspace=str(workspace.root),
            limit=testbed.turn_limit,
            known=simulated.words,
            unwrapped=dict(self._unwrapped(wrapped)),
        )

    @property
    def _environment(self) -> dict[str, str]:
        given = self._testbed.workspace.environment
        return {**_without_shell(given), **self._installed.program.env}

    def _wrapped(self) -> dict[str, str]:
        tap = (*python_program(_TAP), str(self._log), *self._testbed.profile.process.shell)
        commands = {hook.command for hook in self._testbed.configuration.hooks}
        return {command: shlex.join([*tap, command]) for command in commands}

    def _unwrapped(self, wrapped: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        # Where the host shows a command of a plugin, it may fill the folder of the plugin in.
        variable = "${" + self._testbed.profile.config.plugin_root + "}"
        for command, tapped in wrapped.items():
            yield tapped, command
            if folder := self._testbed.workspace.plugin:
                yield tapped.replace(variable, str(folder)), command.replace(variable, str(folder))

    def _write_settings(self, wrapped: Mapping[str, str]) -> None:
        testbed, workspace = self._testbed, self._testbed.workspace
        keys = command_keys(testbed.profile.config)
        of_host = settings_paths(testbed.scenario, testbed.profile)
        paths = [path for path in testbed.files if is_settings(of_host, path)]
        if workspace.plugin is not None:
            own = hosts.plugin_files(testbed.profile.config, lambda path: workspace.read(f"plugin/{path}"))
            paths += [f"plugin/{path}" for path in own]
        for path in paths:
            text, _ = replace_commands(workspace.read(path) or "", keys, wrapped)
            workspace.locate(path).write_text(text, encoding="utf-8")
        home = workspace.home

        def read(name: str) -> str:
            return (home / name).read_text(encoding="utf-8") if (home / name).exists() else ""

        # People trust a whole repository.
        trusted = workspace.top if testbed.scenario.git else workspace.root
        for name, text in self._installed.program.settings(read, str(trusted), self._options).items():
            (home / name).parent.mkdir(parents=True, exist_ok=True)
            (home / name).write_text(text, encoding="utf-8")

    def play(self) -> ComparableSession:
        """Play every process of the session, and return its record."""
        agent, end = self._agent, ENDED
        with ModelServer(self._folder, agent.answer) as server:
            while (upcoming := agent.next_prompt()) is not None:
                before = self._done()
                result = self._run(*upcoming)
                server.wait_for_port()
                if server.problem is not None:
                    raise server.problem
                self._check(result, idle=self._done() == before)
                if agent.cut:
                    end = CUT
                    break
        self._testbed.scan()
        return ComparableSession(
            runs=self._runs_by_turn(),
            told=tuple(agent.told),
            moves=tuple(agent.moves),
            files=workspace_files(self._testbed),
            end=end,
            folders=self._testbed.workspace.folders,
        )

    def _run(self, prompt: Prompt, resumed: bool) -> ProcessResult:
        installed, workspace = self._installed, self._testbed.workspace
        arguments = installed.program.argv(prompt.text, resumed, self._asks, self._options)
        if workspace.plugin is not None:
            arguments = [installed.program.plugin, str(workspace.plugin), *arguments]
        started = (str(PORT), str(workspace.root), *installed.command, *arguments)
        limit = self._testbed.settings.wall
        spec = ProcessSpec(
            argv=(*python_program(_LAUNCHER), *started),
            cwd=str(self._folder),
            env=self._environment,
            limit=limit,
            hook_timeout=limit,
        )
        return self._testbed.run_processes([spec], limit)[0]

    def _done(self) -> tuple[int, int]:
        """Return how much the tap has noted, and how many messages the model has sent."""
        return self._log.stat().st_size if self._log.exists() else 0, len(self._agent.told)

    def _check(self, result: ProcessResult, *, idle: bool) -> None:
        """Raise an error if a process was cut by our budget, or failed before it did anything."""
        ending, name = result.own_ending, self._installed.program.host
        if isinstance(ending, TimedOut):
            budget = f"{self._testbed.settings.wall:g} s"
            raise SimulationError(
                f"{name} did not end within the budget of {budget}; --hook-budget sets another"
            )
        if idle and not self._agent.cut and ending != Exited(0):
            said = (result.stderr.text + result.stdout.text).strip()[-400:]
            raise SimulationError(
                f"{name} ran no hook and asked its model nothing ({ending}); it said: {said}"
            )

    def _runs_by_turn(self) -> tuple[tuple[RecordedRun, ...], ...]:
        lines = self._log.read_text(encoding="utf-8").splitlines() if self._log.exists() else []
        runs: list[list[RecordedRun]] = [[] for _ in range(len(self._agent.asked) + 1)]
        for at, run in read_tapped(lines, self._environment):
            runs[sum(asked <= at for asked in self._agent.asked)].append(run)
        return tuple(map(tuple, runs))


def _without_shell(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name not in _UNSET}


def workspace_files(testbed: Testbed) -> dict[str, str]:
    """Return the workspace's files by path, without settings of hooks and what Git keeps."""
    paths = settings_paths(testbed.scenario, testbed.profile)
    return {
        path: f"{entry.kind} {entry.mode:o} {_content(testbed, path) or entry.content}"
        for path, entry in testbed.files.items()
        if path.startswith("workspace/") and not path.startswith("workspace/.git/")
        if entry.kind != "folder" and not is_settings(paths, path)
    }


def _content(testbed: Testbed, path: str) -> str:
    """Return the text of a small file; empty for any other, which its digest stands for."""
    try:
        text = testbed.workspace.read(path) or ""
    except WorkspaceError:
        return ""
    return text if len(text) <= _SMALL else ""
