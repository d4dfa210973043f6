"""
The stage: workspace, sandbox, host and the watch over one state.

It joins hosts, execution and the fingerprint.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from types import TracebackType
from typing import Self

from pytest_hookharness import hosts
from pytest_hookharness.execution.isolation.confinement import Confinement
from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.execution.snapshots.snapshot import Snapshots
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.file_tools import perform, performance_of
from pytest_hookharness.execution.workspace.workspace import OUTSIDE, Workspace
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.moves import Edit, Performance, Read, RunCommand, ToolCall
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, Stdio, Tier
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Change, StateEntry
from pytest_hookharness.simulation.testbed import launch_overrides
from pytest_hookharness.simulation.testbed.hook_batch import ScenarioAnswers, linger
from pytest_hookharness.simulation.testbed.host_setup import (
    configure,
    find_facts,
    is_settings,
    named_folders,
    settings_paths,
)
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError


class Testbed:
    """
    One throw-away workspace with its sandbox, played on by one host.

    Attributes:
        scenario: What is played.
        settings: The settings of the run.
        slot: Its place among the simulations that are played at the same time.
        profile: The host.
        workspace: The folders and the environment.
        sandbox: Where processes run.
        configuration: The hooks that the host read, and what was wrong with their files.
        facts: What the session knows of its place.
        answers: What handlers say that are no commands.
        files: The covered files as they were last seen.
    """

    def __init__(
        self, scenario: Scenario, settings: Settings, supervisor: Supervisor, base: Path, slot: CpuSlot
    ) -> None:
        self.scenario = scenario
        self.settings = settings
        self.slot = slot
        self.profile = hosts.find(scenario.host)
        self.answers = ScenarioAnswers(scenario.answers)
        self.transcript_counts = False
        self._stack = ExitStack()
        try:
            self._build(supervisor, base)
        except BaseException:
            self._stack.close()
            raise

    @classmethod
    def open(
        cls,
        scenario: Scenario,
        settings: Settings,
        supervisor: Supervisor,
        base: Path,
        slot: CpuSlot | None = None,
    ) -> Self:
        """
        Set the stage for a scenario.

        Raises:
            hosts.UnknownHost: The scenario names a host that nobody knows.
            WorkspaceError: The workspace could not be made as the scenario asks.
            ExecutionError: The tier that was asked for is not to be had here.
        """
        return cls(scenario, settings, supervisor, base, slot or CpuSlot())

    def _build(self, supervisor: Supervisor, base: Path) -> None:
        ledger = self.settings.coverage_store
        self.workspace = self._stack.enter_context(Workspace.create(self.scenario, base, ledger))
        self.configuration = configure(self.scenario, self.profile, self.workspace)
        self._supervisor = supervisor
        self.sandbox = self._open_sandbox()
        self._stack.callback(self._close_sandbox)
        if self.sandbox.contained:
            self.workspace.loans.lend()
        launch_overrides.check_disks(self.scenario, self.workspace.locate, self.sandbox)
        self.facts = find_facts(
            self.scenario, self.profile, self.configuration, self.workspace, self.settings.seed
        )
        path = self.facts.transcript_path
        # A host that writes none has none that somebody could open.
        self.transcript = Path(path) if path else None
        self._transcript_name = f"home/{Path(path).relative_to(self.workspace.home)}" if path else ""
        self.scanner = Scanner(
            self.workspace.roots,
            walked=(OUTSIDE,),
            masks=self.scenario.masks,
            skip=self.sandbox.stubs,
            transcripts=(self.transcript,) if self.transcript is not None else (),
            watches=supervisor.watches,
        )
        self._stack.callback(self.scanner.close)
        self.files: Mapping[str, StateEntry] = self.scanner.scan(without=self._unread)

    def _open_sandbox(self) -> Sandbox:
        place = self.workspace
        confinement = Confinement(
            tier=self.settings.tier,
            network=self.scenario.network,
            private=place.private,
            visible=(*place.visible, *named_folders(self.configuration, place)),
            writable=place.writable,
            outside=str(place.outside),
            readonly=tuple(str(place.locate(path)) for path in self.scenario.readonly),
            full=tuple(str(place.locate(path)) for path in self.scenario.full),
        )
        return self._supervisor.open(confinement, self.slot)

    def _close_sandbox(self) -> None:
        # The one of that time: there may have been others before it.
        self.sandbox.close()

    @contextmanager
    def offstage(self) -> Generator[None]:
        """
        Have no sandbox meanwhile, so that the folders behind its mounts may be changed.
        """
        before = self.sandbox
        before.close()
        try:
            yield
        finally:
            self.workspace.clear_overlay()
            self.sandbox = self._open_sandbox()
        if before.contained and not self.sandbox.contained:
            raise SimulationError(f"the overlay could not be opened anew: {'; '.join(self.sandbox.notes)}")

    @cached_property
    def snapshots(self) -> Snapshots:
        """
        Where states of all folders are kept that one simulation may write to.
        """
        place = self.workspace
        snapshots = Snapshots(place.written, place.base / "snapshots")
        self._stack.callback(snapshots.close)
        return snapshots

    def reconfigured(self, changed: Sequence[Change]) -> bool:
        """
        Whether files that hold settings are among those that changed; they are read again then.
        """
        paths = settings_paths(self.scenario, self.profile)
        if not any(is_settings(paths, change.path) for change in changed):
            return False
        before = self.configuration.problems
        self.configuration = configure(self.scenario, self.profile, self.workspace, again=True)
        problems = dict.fromkeys((*before, *self.configuration.problems))
        self.configuration = replace(self.configuration, problems=tuple(problems))
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """
        End every process and remove every file, unless the workspace is kept.
        """
        self._stack.close()

    def fire(
        self, hooks: Sequence[Hook], payload: Payload, budget: float
    ) -> tuple[tuple[ProcessResult | Payload, ...], tuple[bytes, ...]]:
        """
        Fire hooks at the same moment, as the host does.

        Returns:
            For each hook its run, or the reply that the scenario gives in its stead; and the bytes
            of its standard input.

        Raises:
            SimulationError: A hook is no command and the scenario has no answer for it.
        """
        if any(
            launch_overrides.has_company(self.scenario, self.profile.events[hook.event], payload)
            for hook in hooks
        ):
            with self._as_another(hooks[0].event, payload) as other:
                self._fire(hooks, other, budget)
        return self._fire(hooks, payload, budget)

    @contextmanager
    def _as_another(self, event: str, payload: Payload) -> Generator[Payload]:
        """
        Be another session, or another agent of the same one, with an input of its own.
        """
        own = self.facts
        company = self.scenario.company
        self.facts, sent = launch_overrides.as_sent_by_another(self.profile, own, company, event, payload)
        try:
            if self.facts.transcript_path != own.transcript_path:
                self.write_transcript(self.facts.transcript_path, ())
            yield sent
        finally:
            self.facts = own

    def _fire(
        self, hooks: Sequence[Hook], payload: Payload, budget: float
    ) -> tuple[tuple[ProcessResult | Payload, ...], tuple[bytes, ...]]:
        commands = [index for index, hook in enumerate(hooks) if hook.type == "command"]
        launches = {index: self.launch(hooks, index, payload) for index in commands}
        in_turn = any(hook.event in self.scenario.order for hook in hooks)
        run = partial(launch_overrides.run_in_turn, self._run) if in_turn else self._run
        runs = dict(zip(launches, run([*launches.values()], budget), strict=True))
        given = tuple(
            runs[index] if index in runs else self.answers.give(hook) for index, hook in enumerate(hooks)
        )
        stdins = tuple(launches[index].stdin.data if index in runs else b"" for index in range(len(hooks)))
        return given, stdins

    def _run(self, launches: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
        return self.sandbox.run(launches, budget=budget)

    def launch(self, hooks: Sequence[Hook], index: int, payload: Payload) -> ProcessSpec:
        """
        How one of the hooks of an event is started.
        """
        rule = self.profile.events[hooks[index].event]
        made = hosts.launch(
            self.profile,
            hooks[index],
            launch_overrides.shaped(payload, rule, self.scenario, self.workspace.root),
            self.facts,
            self.workspace.environment,
            self.hook_timeout,
            siblings=hooks,
            index=index,
        )
        lasting = linger(self.scenario) or made.linger
        made = replace(made, cwd=self.workspace.present(made.cwd), linger=lasting)
        variable = self.profile.process.env_file[0]
        if variable in made.env:
            self.workspace.make_folder(Path(made.env[variable]).parent)
        made = launch_overrides.changed(made, hooks[index], self.scenario, self.workspace.root)
        return self.workspace.instruments.shown_to(made)

    @property
    def hook_timeout(self) -> float:
        """
        Seconds after which a fire is cut although its host would wait longer.
        """
        own = self.scenario.hook_timeout
        return own if own is not None else self.settings.hook_timeout

    def perform(
        self, call: ToolCall, operation: hosts.Operation | None, budget: float
    ) -> tuple[Performance, ProcessResult | None]:
        """
        Carry out what a tool call asks for, in the workspace.

        Raises:
            SimulationError: It is a tool that the harness cannot perform.
        """
        if operation is None:
            raise SimulationError(
                f"{call.label or 'agent'}: the harness cannot perform the tool {call.name!r}; "
                "give the call a result: {tool: {...}, result: text}"
            )
        if not isinstance(operation, RunCommand):
            return self.handle(operation), None
        run = self.sandbox.run([self._shell(operation)], budget=budget)[0]
        return replace(performance_of(run), folder=self.workspace.shell.take_word()), run

    def handle(self, operation: Edit | Read) -> Performance:
        """
        Edit or read a file as the agent does.
        """
        place = self.workspace
        hidden = place.private if self.sandbox.tier is Tier.NAMESPACES else {}
        return perform(place.root, operation, folders=(place.home, place.tmp), private=hidden)

    def _shell(self, operation: RunCommand) -> ProcessSpec:
        files = Path(hosts.env_folder(self.profile, self.facts) or "/dev/null")
        present = [path.name for path in files.iterdir()] if files.is_dir() else []
        sourced = hosts.env_files(self.profile, self.facts, present)
        place, command = self.workspace, operation.command
        argv, env = place.shell.prepare(command, place.clock.environment(place.environment), sourced)
        folder, patience = place.present(operation.folder or str(place.root)), self.hook_timeout
        return ProcessSpec(
            argv=argv, cwd=folder, env=env, stdio=Stdio.PIPE, limit=patience, hook_timeout=patience
        )

    def scan(self) -> tuple[Change, ...]:
        """
        Look at the covered files again, but for the transcript, and say what differs.
        """
        self.workspace.instruments.settle()
        before, self.files = self.files, self.scanner.scan(without=self._unread)
        return changes(before, self.files)

    def write_transcript(self, path: str, records: Sequence[Payload]) -> None:
        """
        Append to a transcript as the host does, without taking that for a reader.
        """
        if not path:
            return
        self.workspace.write_transcript(path, records)
        self.scanner.settle()

    def transcript_opened(self) -> bool | None:
        """
        Whether somebody opened the transcript since the host last wrote to it; ``None`` if unknown.

        From the first time on that this cannot be denied, the transcript is part of the state.
        """
        if self.transcript is None:
            return False
        opened = self.scanner.opened(self.transcript)
        if opened is not False:
            self.transcript_counts = True
        return opened

    @property
    def _unread(self) -> tuple[str, ...]:
        return () if self.transcript_counts or not self._transcript_name else (self._transcript_name,)

    def read_in_full(self) -> Mapping[str, StateEntry]:
        """
        The entries of the state, read anew without any cache.
        """
        return self.scanner.verify(without=self._unread)

    def text(self, path: str) -> str | None:
        """
        The text of a file of the workspace; ``None`` if there is none.
        """
        return self.workspace.read(f"workspace/{path}")
