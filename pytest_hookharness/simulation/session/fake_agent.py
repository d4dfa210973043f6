"""
The fake agent: a program that runs a session in place of a real agent's command.

It runs inside the sandbox as a child of the hook or command that calls it, so the environment, limits and end
of the caller apply to it as to the real program. The hooks of its session are its own children. The harness
learns about it from the records that it writes.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import assert_never

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.paths import append_lines, read_bytes
from pytest_hookharness.execution.processes import item_supervisor
from pytest_hookharness.execution.processes.item_supervisor import NestedProcesses
from pytest_hookharness.execution.workspace.agent_tools import AgentShell, perform, performance_of
from pytest_hookharness.execution.workspace.session_records import SessionRecords, SessionWriter
from pytest_hookharness.hosts.rules.profile import CallRules
from pytest_hookharness.model.agent_sessions import ChildCall, ChildHookRun
from pytest_hookharness.model.moves import FIRST_PROMPT, Performance, Prompt, RunCommand, Script, Stop
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Stdio
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation.testbed.hook_batch import ScenarioAnswers, finished, linger, run_batch
from pytest_hookharness.simulation.testbed.host_setup import configure, find_facts
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Seconds; as long as the real programs wait for a standard input that nothing is written to.
_STDIN_WAIT = 3.0
_STDIN_LIMIT = 16 << 20
_WORD_LIMIT = 4096
# Size and number of hook inputs that a record keeps.
_PAYLOAD_SIZE, _PAYLOAD_COUNT = 1 << 16, 50
# Seconds. Only the host's own limits apply here; the harness's limits apply to the outer hook run.
_UNLIMITED = 1e6
_UNKNOWN, _REFUSED = 64, 1
# Distance of the seeds of two sessions: each has identifiers of its own, which follow from its number.
_SEED_STEP = 1_000_003


class ChildPlace:
    """The workspace as a fake agent inside the sandbox sees it; a `HostFolders`."""

    def __init__(self, scenario: Scenario, folder: Path, plugin: Path) -> None:
        self.root = folder
        self.home = Path(os.environ.get("HOME", "/"))
        self.tmp = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
        self.plugin = plugin if scenario.plugin is not None else None
        self.roots: Mapping[str, Path] = {"workspace": self.root, "home": self.home, "plugin": plugin}
        self.environment: Mapping[str, str] = dict(os.environ)

    def read(self, state_path: str) -> str | None:
        """Return the text of a file; ``None`` if there is no such file."""
        name, _, rest = state_path.partition("/")
        data = read_bytes(self.roots[name] / rest, most=_STDIN_LIMIT)
        return None if data is None else data.decode("utf-8", "replace")


class FakeAgent:
    """One session, from its prompt to its end, with the agent's last text and number of stops."""

    def __init__(
        self,
        scenario: Scenario,
        double: Double,
        profile: hosts.Profile,
        line: hosts.CommandLine,
        record: SessionWriter,
    ) -> None:
        self.answer = ""
        self.hook_run_count = 0
        self.stops = 0
        self._record = record
        self._profile = profile
        self._answers = ScenarioAnswers(scenario.answers)
        self._linger = linger(scenario)
        self._processes = NestedProcesses()
        self._shell = AgentShell(record.folder / "shell")
        # The plugin's folder is beside that of the doubles.
        self._place = ChildPlace(scenario, Path.cwd(), record.folder.parents[2] / "plugin")
        self._configuration = _configure(scenario, profile, line, self._place)
        seed = _SEED_STEP * record.session.number
        self._facts = find_facts(scenario, profile, self._configuration, self._place, seed, time.time())
        self.session = self._facts.session_id
        acts = (Prompt(text=line.prompt), *double.does, Stop(text=double.stdout.rstrip("\n") or "Done."))
        self._agent = agents.start(Script(acts=acts), None)

    def run(self) -> hosts.Ended:
        """Do what the host asks for until the session ends."""
        progress = hosts.begin(self._profile, self._configuration, self._facts)
        ending = None
        while True:
            request = progress.request
            for path, lines in progress.lines.items():
                if path:
                    append_lines(Path(path), lines)
            match request:
                case hosts.RunHooks():
                    progress = self._run_hooks(progress, request)
                case hosts.PerformCall():
                    progress = hosts.advance(progress.session, self._perform(request))
                case hosts.NextAct():
                    ending = request.ending or ending
                    progress = self._move(progress, request)
                case hosts.Ended():
                    return ending or request
                case _:
                    assert_never(request)
            for performed in progress.performed:
                made, refused = performed.call, performed.refused
                call = ChildCall(
                    name=made.name, refused=refused, expected=made.expect or "", label=made.label
                )
                self._record.append(call=asdict(call))

    def _move(self, progress: hosts.Progress, request: hosts.NextAct) -> hosts.Progress:
        if request.given is not None:
            return hosts.advance(progress.session, request.given)
        act, self._agent = self._agent.act(request.observation, turn_over=request.turn_over)
        if isinstance(act, Stop):
            self.answer = act.text
            self.stops += 1
        return hosts.advance(progress.session, act)

    def _run_hooks(self, progress: hosts.Progress, request: hosts.RunHooks) -> hosts.Progress:
        event, hooks = request.event, request.hooks
        started = [ChildHookRun(event=event, command=hook.command, done=False) for hook in hooks]
        self._record.append(hook_runs=[asdict(run) for run in started])
        launches = {
            place: self._launch(request, place) for place, hook in enumerate(hooks) if hook.type == "command"
        }
        given = run_batch(hooks, launches, self._processes.run, self._answers)
        after = hosts.advance(progress.session, hosts.HooksFinished(runs=given, finished=finished(given)))
        replies = after.replies[len(after.replies) - len(given) :]
        finished_runs = []
        for place, (run, reply) in enumerate(zip(started, replies, strict=True)):
            done = replace(run, ruling=reply.ruling.value, reason=reply.reason[:_WORD_LIMIT], done=True)
            # A session has no limit of its own, but its record must have one.
            kept = request.payload if self.hook_run_count < _PAYLOAD_COUNT else {}
            finished_runs.append(_with_process(done, given[place], launches.get(place), kept))
            self.hook_run_count += 1
        self._record.append(hook_runs=[asdict(run) for run in finished_runs])
        return after

    def _launch(self, request: hosts.RunHooks, place: int) -> ProcessSpec:
        made = hosts.launch(
            self._profile,
            request.hooks[place],
            request.payload,
            self._facts,
            self._place.environment,
            _UNLIMITED,
            hooks_of_event=request.hooks,
            index=place,
        )
        variable = self._profile.process.env_file[0]
        if variable in made.env:
            Path(made.env[variable]).parent.mkdir(parents=True, exist_ok=True)
        return replace(made, linger=self._linger or made.linger)

    def _perform(self, request: hosts.PerformCall) -> Performance:
        if request.call.expect in ("deny", "ask"):
            return Performance(error=f"not carried out: hooks were expected to {request.call.expect} it")
        operation = request.operation
        if operation is None:
            return Performance(error=f"the fake agent cannot perform the tool {request.call.name!r}")
        if not isinstance(operation, RunCommand):
            return perform(self._place.root, operation, folders=(self._place.home, self._place.tmp))
        argv, env = self._shell.prepare(operation.command, self._place.environment)
        folder = operation.folder or str(self._place.root)
        launch = ProcessSpec(
            argv=argv, cwd=folder, env=env, stdio=Stdio.PIPE, limit=_UNLIMITED, hook_timeout=_UNLIMITED
        )
        run = self._processes.run([replace(launch, linger=self._linger or launch.linger)])[0]
        return replace(performance_of(run), folder=self._shell.pop_folder())


def _with_process(
    run: ChildHookRun, given: ProcessResult | Payload, launch: ProcessSpec | None, payload: Payload
) -> ChildHookRun:
    """Return a hook run with what its process showed; a hook without a process stays as it is."""
    if launch is None or not isinstance(given, ProcessResult):
        return run
    ending = given.own_ending
    size = len(launch.stdin.data)
    return replace(
        run,
        code=ending.code if isinstance(ending, Exited) else None,
        pid=given.pid,
        size=size,
        payload=payload if size < _PAYLOAD_SIZE else {},
    )


def _configure(
    scenario: Scenario, profile: hosts.Profile, line: hosts.CommandLine, place: ChildPlace
) -> hosts.Configuration:
    if line.hookless:
        return hosts.Configuration()
    further = {f"--settings {number}": text for number, text in enumerate(line.settings, 1)}
    project = line.sources is None or any(path.startswith("workspace/") for path in line.sources)
    named = scenario.hooks is not None
    return configure(
        scenario if project else replace(scenario, hooks=None),
        profile,
        place,
        again=True,
        only=None if project and named else line.sources,
        further=further,
    )


def _resolve(line: hosts.CommandLine) -> hosts.CommandLine:
    """
    Return the command line with the texts of the settings files that it names, and enter its folder.

    Raises:
        OSError: The folder or a file does not exist; the real program would end as well.
    """
    texts = (
        given if given.lstrip().startswith("{") else Path(given).read_text(encoding="utf-8")
        for given in line.settings
    )
    line = replace(line, settings=tuple(texts))
    if line.folder:
        os.chdir(line.folder)
    return line


def _inner_scenario(scenario: Scenario, profile: hosts.Profile) -> Scenario:
    """Return the part of the scenario that applies to a session of a host that is started within it."""
    own = replace(scenario, subfolder="", worktree="", setup="", options={})
    outer = hosts.find(scenario.host).name
    return own if outer == profile.name else replace(own, hooks=None, plugin=None)


def _read_stdin() -> str:
    """Return the text on standard input; empty if nothing is written there soon."""
    if sys.stdin is None or os.isatty(0):
        return ""
    data = b""
    while len(data) < _STDIN_LIMIT and select.select([0], [], [], None if data else _STDIN_WAIT)[0]:
        piece = os.read(0, 1 << 16)
        if not piece:
            break
        data += piece
    return data.decode("utf-8", "replace")


def main(arguments: Sequence[str]) -> int:
    """Run a session of a command, given the folder of the records before it; return its exit code."""
    folder, name, *words = arguments
    records = SessionRecords(Path(folder))
    # Written by the harness. A hook that replaces it gains nothing: this runs in the hook's own sandbox.
    scenario: Scenario = pickle.loads((records.folder / "scenario").read_bytes())  # noqa: S301
    double = scenario.commands[name]
    profile = hosts.find(double.agent)
    rules = profile.calling
    if rules is None:
        return _fail(name, f"there is no fake agent for {profile.id}", _UNKNOWN)
    line = hosts.read_command_line(rules, words)
    if line.version and not line.unknown:
        sys.stdout.write(f"{profile.version}\n")
        return 0
    try:
        line = _resolve(line)
    except OSError as error:
        return _fail(name, str(error), _REFUSED)
    prompt = hosts.join_prompt(rules, line.prompt, _read_stdin()) or FIRST_PROMPT.text
    record = records.enter(scenario.nesting)
    start = replace(
        record.session,
        host=profile.id,
        argv=tuple(word[:_WORD_LIMIT] for word in (name, *words)),
        size=len(prompt.encode("utf-8", "replace")),
        environment=dict(os.environ),
        folder=str(Path.cwd()),
    )
    record.append(start=asdict(start))
    if start.refused:
        return _fail(name, f"not started, beyond {start.refused}", _REFUSED)
    if line.unknown:
        return _give_up(name, record, f"it does not know {line.unknown}")
    line = replace(line, prompt=prompt)
    try:
        child = FakeAgent(_inner_scenario(scenario, profile), double, profile, line, record)
        ended = child.run()
    except Exception as error:
        # An agent would not have failed like this, so the harness must report it.
        why = str(error) if isinstance(error, SimulationError) else item_supervisor.describe_error(error)
        _give_up(name, record, why)
        raise
    _leave(record, rules, line, child, ended)
    return double.exit


def _leave(
    record: SessionWriter, rules: CallRules, line: hosts.CommandLine, child: FakeAgent, ended: hosts.Ended
) -> None:
    record.append(ended=ended.how)
    if ended.how == "waiting":
        signal.pause()
    answered = hosts.FinalAnswer(text=child.answer or ended.why, session=child.session, turns=child.stops)
    sys.stdout.write(hosts.write_answer(rules, line.form, answered))
    sys.stdout.flush()


def _give_up(name: str, record: SessionWriter, trouble: str) -> int:
    record.append(trouble=trouble)
    return _fail(name, f"the fake agent stopped: {trouble}", _UNKNOWN)


def _fail(name: str, message: str, code: int) -> int:
    sys.stderr.write(f"{name}: {message}\n")
    return code
