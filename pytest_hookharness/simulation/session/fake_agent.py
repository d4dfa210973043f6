"""
The stand-in: a program that plays a session in the place of a real agent.

It runs inside the sandbox, as a child of the hook or the command that calls
it, so that what the hook passes on, its limits and its end hold for it as for the real program; the hooks
that it fires are children of its own. The harness learns of it by the records that it leaves.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import assert_never

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.paths import append_lines, read_bytes
from pytest_hookharness.execution.processes import item_supervisor
from pytest_hookharness.execution.processes.nested import NestedProcesses
from pytest_hookharness.execution.workspace.agent_shell import AgentShell
from pytest_hookharness.execution.workspace.file_tools import perform, performance_of
from pytest_hookharness.execution.workspace.session_records import SessionRecord, SessionRecords
from pytest_hookharness.model.agent_sessions import ChildCall, ChildHookRun
from pytest_hookharness.model.moves import FIRST_PROMPT, Performance, Prompt, RunCommand, Script, Stop
from pytest_hookharness.model.processes import Exited, HeldOpen, ProcessResult, ProcessSpec, Stdio
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.model.scenario import Double, Scenario
from pytest_hookharness.simulation.testbed.hook_batch import ScenarioAnswers, finished, linger
from pytest_hookharness.simulation.testbed.host_setup import configure, find_facts
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# As long as the real programs wait for a standard input that nobody writes to.
_STDIN_WAIT = 3.0
_MOST_STDIN = 16 << 20
_LONGEST_WORD = 4096
_KEPT_PAYLOAD, _KEPT_PAYLOADS = 1 << 16, 50
# Only the host's own limits cut here; those of the harness hold for the fire that all this is part of.
_FOR_EVER = 1e6
_UNKNOWN, _REFUSED = 64, 1
# Fresh identifiers for every session, which follow from its number alone.
_APART = 1_000_003


class ChildPlace:
    """
    What a stand-in sees of the workspace; see ``opening.Place``.
    """

    def __init__(self, scenario: Scenario, folder: Path, plugin: Path) -> None:
        self.root = folder
        self.home = Path(os.environ.get("HOME", "/"))
        self.tmp = Path(os.environ.get("TMPDIR") or tempfile.gettempdir())
        self.plugin = plugin if scenario.plugin is not None else None
        self.roots: Mapping[str, Path] = {"workspace": self.root, "home": self.home, "plugin": plugin}
        self.environment: Mapping[str, str] = dict(os.environ)

    def read(self, state_path: str) -> str | None:
        """
        The text of a file; ``None`` if there is no such file.
        """
        name, _, rest = state_path.partition("/")
        data = read_bytes(self.roots[name] / rest, most=_MOST_STDIN)
        return None if data is None else data.decode("utf-8", "replace")


class FakeAgent:
    """
    One session, from its prompt to its end.

    Attributes:
        said: What the agent said last.
        session: The host's name of the session.
        fired: How many fires there were.
        stops: How often the agent wanted to stop.
    """

    def __init__(
        self,
        scenario: Scenario,
        double: Double,
        profile: hosts.Profile,
        line: hosts.CommandLine,
        record: SessionRecord,
    ) -> None:
        self.said = ""
        self.fired = 0
        self.stops = 0
        self._record = record
        self._profile = profile
        self._answers = ScenarioAnswers(scenario.answers)
        self._linger = linger(scenario)
        self._processes = NestedProcesses()
        self._shell = AgentShell(record.folder / "shell")
        # The plugin stands beside the folder of the doubles.
        self._place = ChildPlace(scenario, Path.cwd(), record.folder.parents[2] / "plugin")
        self._configuration = _configure(scenario, profile, line, self._place)
        seed = _APART * record.session.number
        self._facts = find_facts(scenario, profile, self._configuration, self._place, seed)
        self.session = self._facts.session_id
        acts = (Prompt(text=line.prompt), *double.does, Stop(text=double.stdout.rstrip("\n") or "Done."))
        self._agent = agents.start(Script(acts=acts), None)

    def play(self) -> hosts.Ended:
        """
        Do what the host asks for until it is done.
        """
        progress = hosts.begin(self._profile, self._configuration, self._facts)
        ending = None
        while True:
            request = progress.request
            if request.records and request.transcript_path:
                append_lines(Path(request.transcript_path), request.records)
            match request:
                case hosts.RunHooks():
                    progress = self._fire(progress, request)
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
                promised, label = performed.call.expect or "", performed.call.label
                call = ChildCall(
                    name=performed.call.name, refused=performed.refused, expected=promised, label=label
                )
                self._record.note(call=asdict(call))

    def _move(self, progress: hosts.Progress, request: hosts.NextAct) -> hosts.Progress:
        act, self._agent = self._agent.act(request.observation, turn_over=request.turn_over)
        if isinstance(act, Stop):
            self.said = act.text
            self.stops += 1
        return hosts.advance(progress.session, act)

    def _fire(self, progress: hosts.Progress, request: hosts.RunHooks) -> hosts.Progress:
        for lines in request.side_records:
            append_lines(Path(lines.path), lines.records)
        started = [
            ChildHookRun(event=request.event, command=hook.command, done=False) for hook in request.hooks
        ]
        self._record.note(hook_runs=[asdict(fire) for fire in started])
        launches = {
            place: self._launch(request, place)
            for place, hook in enumerate(request.hooks)
            if hook.type == "command"
        }
        runs = dict(zip(launches, self._processes.run(tuple(launches.values())), strict=True))
        given = [
            runs[place] if place in runs else self._answers.give(hook)
            for place, hook in enumerate(request.hooks)
        ]
        after = hosts.advance(
            progress.session, hosts.HooksFinished(runs=tuple(given), finished=finished(given))
        )
        replies = after.replies[len(after.replies) - len(given) :]
        fires = []
        for place, (fire, reply) in enumerate(zip(started, replies, strict=True)):
            heard = replace(fire, ruling=reply.ruling.value, reason=reply.reason[:_LONGEST_WORD], done=True)
            # A session may go on for as long as somebody lets it; its record must not.
            kept = request.payload if self.fired < _KEPT_PAYLOADS else {}
            fires.append(_told(heard, runs.get(place), launches.get(place), kept))
            self.fired += 1
        self._record.note(hook_runs=[asdict(fire) for fire in fires])
        return after

    def _launch(self, request: hosts.RunHooks, place: int) -> ProcessSpec:
        made = hosts.launch(
            self._profile,
            request.hooks[place],
            request.payload,
            self._facts,
            self._place.environment,
            _FOR_EVER,
            siblings=request.hooks,
            index=place,
        )
        variable = self._profile.process.env_file[0]
        if variable in made.env:
            Path(made.env[variable]).parent.mkdir(parents=True, exist_ok=True)
        return replace(made, linger=self._linger or made.linger)

    def _perform(self, request: hosts.PerformCall) -> Performance:
        if request.call.expect in ("deny", "ask"):
            return Performance(error=f"not carried out: it was promised that hooks {request.call.expect} it")
        operation = request.operation
        if operation is None:
            return Performance(error=f"the stand-in cannot perform the tool {request.call.name!r}")
        if not isinstance(operation, RunCommand):
            return perform(self._place.root, operation, folders=(self._place.home, self._place.tmp))
        argv, env = self._shell.prepare(operation.command, self._place.environment)
        folder = operation.folder or str(self._place.root)
        launch = ProcessSpec(
            argv=argv, cwd=folder, env=env, stdio=Stdio.PIPE, limit=_FOR_EVER, hook_timeout=_FOR_EVER
        )
        run = self._processes.run([replace(launch, linger=self._linger or launch.linger)])[0]
        return replace(performance_of(run), folder=self._shell.take_word())


def _told(
    fire: ChildHookRun, run: ProcessResult | None, launch: ProcessSpec | None, payload: Payload
) -> ChildHookRun:
    if run is None or launch is None:
        return fire
    ending = run.ending.exit if isinstance(run.ending, HeldOpen) else run.ending
    size = len(launch.stdin.data)
    return replace(
        fire,
        code=ending.code if isinstance(ending, Exited) else None,
        pid=run.pid,
        size=size,
        payload=payload if size < _KEPT_PAYLOAD else {},
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
    The call with the texts of the settings that it names, in the folder to work in.

    Raises:
        OSError: There is no such folder or file; the real program ends then as well.
    """
    texts = (
        given if given.lstrip().startswith("{") else Path(given).read_text(encoding="utf-8")
        for given in line.settings
    )
    line = replace(line, settings=tuple(texts))
    if line.folder:
        os.chdir(line.folder)
    return line


def _own(scenario: Scenario, profile: hosts.Profile) -> Scenario:
    """
    The scenario as far as it holds for a session of this host that somebody starts within it.
    """
    own = replace(scenario, worktree="", setup="", options={})
    outer = hosts.find(scenario.host).name
    return own if outer == profile.name else replace(own, hooks=None, plugin=None)


def _read_stdin() -> str:
    """
    What is on the standard input, if somebody writes to it soon.
    """
    if sys.stdin is None or os.isatty(0):
        return ""
    data = b""
    while len(data) < _MOST_STDIN and select.select([0], [], [], None if data else _STDIN_WAIT)[0]:
        piece = os.read(0, 1 << 16)
        if not piece:
            break
        data += piece
    return data.decode("utf-8", "replace")


def main(arguments: Sequence[str]) -> int:
    """
    Play one session.

    Args:
        arguments: The folder of the records, the name that was called, and the words behind it.

    Returns:
        The exit code.
    """
    folder, name, *words = arguments
    lineage = SessionRecords(Path(folder))
    # Written by the harness; what a hook puts in its place runs where the hook itself does.
    scenario: Scenario = pickle.loads((lineage.folder / "scenario").read_bytes())  # noqa: S301
    double = scenario.commands[name]
    profile = hosts.find(double.agent)
    rules = profile.calling
    if rules is None:
        sys.stderr.write(f"{name}: there is no stand-in for {profile.id}\n")
        return _UNKNOWN
    line = hosts.read_command_line(rules, words)
    if line.version and not line.unknown:
        sys.stdout.write(f"{profile.version}\n")
        return 0
    try:
        line = _resolve(line)
    except OSError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return _REFUSED
    prompt = hosts.join_prompt(rules, line.prompt, _read_stdin()) or FIRST_PROMPT.text
    record = lineage.enter(scenario.nesting)
    start = replace(
        record.session,
        host=profile.id,
        argv=tuple(word[:_LONGEST_WORD] for word in (name, *words)),
        size=len(prompt.encode("utf-8", "replace")),
        environment=dict(os.environ),
        folder=str(Path.cwd()),
    )
    record.note(start=asdict(start))
    if start.refused:
        sys.stderr.write(f"{name}: not started, beyond {start.refused}\n")
        return _REFUSED
    if line.unknown:
        return _give_up(name, record, f"it does not know {line.unknown}")
    try:
        child = FakeAgent(_own(scenario, profile), double, profile, replace(line, prompt=prompt), record)
        ended = child.play()
    except Exception as error:
        # Whatever it is, it is no answer of an agent: the harness must hear of it.
        why = str(error) if isinstance(error, SimulationError) else item_supervisor.trace(error)
        _give_up(name, record, why)
        raise
    record.note(ended=ended.how)
    if ended.how == "waiting":
        signal.pause()
    said = hosts.Answered(text=child.said or ended.why, session=child.session, turns=child.stops)
    sys.stdout.write(hosts.write_answer(rules, line.form, said))
    sys.stdout.flush()
    return double.exit


def _give_up(name: str, record: SessionRecord, trouble: str) -> int:
    record.note(trouble=trouble)
    sys.stderr.write(f"{name}: the stand-in gives up: {trouble}\n")
    return _UNKNOWN
