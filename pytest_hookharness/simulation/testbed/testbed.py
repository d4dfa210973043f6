"""The testbed: the workspace, sandbox and host of one simulation, and the state of its files."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_hookharness import hosts
from pytest_hookharness.execution.clock.clock import Moment
from pytest_hookharness.execution.processes.sandbox import Sandbox, Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot
from pytest_hookharness.execution.snapshots.snapshot import Snapshots
from pytest_hookharness.execution.state.scan import Scanner
from pytest_hookharness.execution.workspace.workspace import OUTSIDE, Workspace
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec
from pytest_hookharness.model.protocol import Payload
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Change, StateEntry
from pytest_hookharness.simulation.testbed import launch_overrides
from pytest_hookharness.simulation.testbed.hook_batch import ChangeMakers, EndOrder, ScenarioAnswers
from pytest_hookharness.simulation.testbed.host_setup import (
    configure,
    find_facts,
    is_settings,
    named_folders,
    settings_paths,
    with_identifiers,
)
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

if TYPE_CHECKING:
    from socket import socket

    from pytest_hookharness.execution.reads.observer import ReadObserver
    from pytest_hookharness.execution.workspace.disposal import Disposal
    from pytest_hookharness.execution.workspace.project_copies import ProjectCopies


class Testbed(AbstractContextManager["Testbed"]):
    """
    One throw-away workspace with its sandbox, used by one simulated host.

    It is the only owner of its state: others read it and ask for changes by methods.

    Attributes:
        answers: Replies of handlers that are not commands.
        scanner: Finds the covered files and what changed in them.
        observer: Records what processes look at, in `observed_by`; else ``None``.
        launch_receivers: Called with how each hook process is started, before it is.
        transcript: Where the host writes the transcript; ``None`` for a host that writes none.
    """

    def __init__(
        self,
        scenario: Scenario,
        settings: Settings,
        supervisor: Supervisor,
        base: Path,
        slot: CpuSlot | None = None,
        disposal: Disposal | None = None,
        copies: ProjectCopies | None = None,
    ) -> None:
        """
        Build a testbed for a scenario.

        Raises:
            hosts.UnknownHost: The scenario names an unknown host.
            WorkspaceError: The workspace could not be made as the scenario asks.
            ExecutionError: The tier that was asked for is not available.
        """
        self.scenario = with_identifiers(scenario, settings.seed)
        self.settings = settings
        self.slot = slot or CpuSlot()
        self.profile = hosts.find(scenario.host)
        if scenario.cap is not None:
            self.profile = hosts.with_cap(self.profile, scenario.cap)
        self.answers = ScenarioAnswers(scenario.answers)
        self.ends = EndOrder()
        self.launch_receivers: list[Callable[[ProcessSpec], object]] = []
        self._transcript_counts = False
        self.observer: ReadObserver | None = None
        self._stack = ExitStack()
        try:
            self._build(supervisor, base, disposal, copies)
        except BaseException:
            self._stack.close()
            raise

    def _build(
        self, supervisor: Supervisor, base: Path, disposal: Disposal | None, copies: ProjectCopies | None
    ) -> None:
        # The stack closes in reverse, so that all processes end before the folders go that they may write to.
        reserved = supervisor.reserve(self.settings.tier, network=self.scenario.network)
        self._stack.callback(reserved.close)
        store = self.settings.coverage_store
        self.workspace = place = Workspace.create(self.scenario, base, store, copies, disposal)
        self._stack.callback(place.close)
        self._configuration = configure(self.scenario, self.profile, self.workspace)
        self._supervisor = supervisor
        self._sandbox = self._begin_sandbox(reserved)
        # Also one that is not open yet, and the one by which `renew_sandbox` may have replaced it.
        self._stack.callback(lambda: self._sandbox.close(at_once=True))
        # Hooks may compare the times of the host with their clock.
        self._start = time.time() + self.settings.ahead(self.scenario)
        self.begin_session(0)
        path = self._facts.transcript_path
        self.transcript = Path(path) if path else None
        self._transcript_name = f"home/{Path(path).relative_to(self.workspace.home)}" if path else ""
        self.scanner = Scanner(
            self.workspace.roots,
            walked=(OUTSIDE,),
            masks=self.scenario.masks,
            transcripts=(self.transcript,) if self.transcript is not None else (),
            watches=supervisor.watches,
            standing=place.copied.watches,
        )
        self._stack.callback(self.scanner.close)
        # While the sandbox is opened; what is made for it meanwhile is looked at afterwards.
        self.scanner.scan(without=self._unread)
        self._sandbox.wait_until_open()
        place.copied.enter(contained=self._sandbox.contained)
        launch_overrides.check_disks(self.scenario, place.locate, self._sandbox)
        self.scanner.skip(place.mount_points.note(self._sandbox.stubs, self.visible, place.writable))
        self._files: Mapping[str, StateEntry] = self.scanner.scan(without=self._unread)
        self.scanner.note_known()
        self._makers = ChangeMakers(self._files, beside=bool(self.scenario.processes))

    @property
    def sandbox(self) -> Sandbox:
        """Where processes run."""
        return self._sandbox

    def run_processes(self, specs: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
        """Run processes at the same time, observed if the testbed is; ``budget`` cuts all of them."""
        start = partial(self.workspace.clock.run, partial(self._sandbox.run, budget=budget))
        return start(specs) if self.observer is None else self.observer.run(start, specs)

    @contextmanager
    def observed_by(self, observer: ReadObserver) -> Generator[None]:
        """For a block, record what the processes look at."""
        self.observer = observer
        try:
            with self.workspace.instruments.without_recorder():
                yield
        finally:
            self.observer = None

    @property
    def configuration(self) -> hosts.Configuration:
        """The hooks that the host read, and the problems of their files."""
        return self._configuration

    @property
    def facts(self) -> hosts.Facts:
        """What the current session knows of its surroundings."""
        return self._facts

    @property
    def files(self) -> Mapping[str, StateEntry]:
        """The covered files at the last scan."""
        return self._files

    @property
    def transcript_counts(self) -> bool:
        """Whether the transcript is part of the state, because a hook may have read it."""
        return self._transcript_counts

    @property
    def turn_limit(self) -> int:
        """After how many turns a run is cut."""
        return self.scenario.turns if self.settings.turns is None else self.settings.turns

    def begin_session(self, number: int) -> None:
        """Take the facts of a session with its own id; only the first (0) has the setup and the worktree."""
        scenario = replace(self.scenario, setup="", worktree="") if number else self.scenario
        seed, configuration = self.settings.seed + number, self._configuration
        self._facts = find_facts(scenario, self.profile, configuration, self.workspace, seed, self._start)

    def use_facts(self, facts: hosts.Facts) -> None:
        """Take the facts of the session that runs now; a copy of a session has another id."""
        self._facts = facts

    def rewind(
        self,
        *,
        answers: Sequence[int],
        configuration: hosts.Configuration,
        transcript_counts: bool,
        clock: Moment,
    ) -> None:
        """
        Go back to an earlier point of the session; the caller restores the files.

        Args:
            answers: How often each answer of the scenario was given.
            configuration: The hooks, as the host had last read them.
            transcript_counts: Whether the transcript was part of the state.
            clock: The time by the hooks' clock.
        """
        self.answers.put_back(answers)
        self._configuration = configuration
        self._transcript_counts = transcript_counts
        self.workspace.clock.return_to(clock)

    def _begin_sandbox(self, reserved: socket | None = None) -> Sandbox:
        tier, visible = self.settings.tier, self.visible
        confinement = launch_overrides.confinement_of(self.scenario, self.workspace, tier, visible)
        return self._supervisor.begin(confinement, self.slot, reserved)

    @property
    def visible(self) -> tuple[str, ...]:
        """Paths that hooks see at their own place, whatever hides what is around them."""
        return (*self.workspace.visible, *named_folders(self._configuration, self.workspace))

    @contextmanager
    def without_sandbox(self) -> Generator[None]:
        """
        Close the sandbox for a block that changes folders behind its mounts, and open a new one after it.

        The kernel does not allow changes below a mounted overlay: what processes then see is undefined.

        Raises:
            SimulationError: The new sandbox does not contain writes as the old one did.
        """
        self._sandbox.close()
        try:
            yield
        finally:
            self.renew_sandbox()

    def renew_sandbox(self) -> None:
        """Open a new sandbox in the place of this one; raise as `without_sandbox`."""
        before = self._sandbox
        before.close()
        self.workspace.clear_overlay()
        self._sandbox = self._begin_sandbox()
        self._sandbox.wait_until_open()
        if before.contained and not self._sandbox.contained:
            raise SimulationError(f"the overlay could not be opened again: {'; '.join(self._sandbox.notes)}")

    @cached_property
    def snapshots(self) -> Snapshots:
        """The store for states of all folders that a simulation may write to."""
        place = self.workspace
        snapshots = Snapshots(place.written, place.base / "snapshots")
        # With the workspace the store is removed anyway, and at a better time.
        self._stack.callback(lambda: snapshots.close() if place.kept else None)
        return snapshots

    def reload_settings(self, changed: Sequence[Change]) -> bool:
        """Read the hook settings again if one of their files changed; return whether it did."""
        paths = settings_paths(self.scenario, self.profile)
        if not any(is_settings(paths, change.path) for change in changed):
            return False
        before = self._configuration.problems
        read = configure(self.scenario, self.profile, self.workspace, again=True)
        problems = dict.fromkeys((*before, *read.problems))
        self._configuration = replace(read, problems=tuple(problems))
        return True

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End all processes and remove all files, unless the workspace is kept."""
        self._stack.close()

    @property
    def hook_timeout(self) -> float:
        """Seconds after which a hook run is cut although its host would wait longer."""
        own = self.scenario.hook_timeout
        return own if own is not None else self.settings.hook_timeout

    def scan(self, hooks: Sequence[str] = ()) -> tuple[Change, ...]:
        """
        Scan the covered files, and return what changed since the last scan, while some hooks ran.

        The transcript is left out until it counts.
        """
        self.note_changes(hooks)
        return self.take_changes()

    def take_changes(self) -> tuple[Change, ...]:
        """Return what `note_changes` found since the last scan; nothing is looked at again."""
        makers = self._makers
        self._makers = ChangeMakers(self._files, beside=bool(self.scenario.processes))
        return makers.name(changes(makers.since, self._files))

    def note_changes(self, hooks: Sequence[str]) -> None:
        """Note what these hooks changed, before others run; the next scan returns it."""
        self.workspace.instruments.settle()
        before, self._files = self._files, self.scanner.scan(without=self._unread)
        self._makers.note(changes(before, self._files), hooks)

    @contextmanager
    def keeping_changes(self) -> Generator[None]:
        """For a block that undoes its changes, keep which hooks changed files since the last scan."""
        kept = self._makers
        try:
            yield
        finally:
            self._makers = kept

    def write_transcript(self, path: str, records: Sequence[Payload]) -> None:
        """Append to a transcript as the host does; this does not count as opening it."""
        if not path:
            return
        fresh = self.workspace.write_transcript(path, records)
        self.scanner.settle()
        if fresh:
            # Its folders are the host's: no hook and no call made them.
            self.scan()

    def transcript_opened(self) -> bool | None:
        """
        Return whether a hook opened the transcript since the host last wrote to it; ``None`` if unknown.

        Once a hook opened it, or may have, the transcript is part of the state.
        """
        if self.transcript is None:
            return False
        opened = self.scanner.opened(self.transcript)
        if opened is not False:
            self._transcript_counts = True
        return opened

    @property
    def _unread(self) -> tuple[str, ...]:
        return () if self._transcript_counts or not self._transcript_name else (self._transcript_name,)

    def read_in_full(self) -> Mapping[str, StateEntry]:
        """Return the covered files, read again without any cache."""
        return self.scanner.verify(without=self._unread)

    def read_text(self, path: str) -> str | None:
        """Return the text of a file of the workspace; ``None`` if there is no such file."""
        return self.workspace.read(f"workspace/{path}")
