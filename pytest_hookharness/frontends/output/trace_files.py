"""
Trace files: what a simulation shows is written down while it is played.

One file for each simulation, a line for each record; each is in the hands of the system before the
simulation goes on, so that whatever ends this process keeps what was seen. Secrets are taken out before.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from io import FileIO
from pathlib import Path

from pytest_hookharness.execution.processes.slots import NoFreeSlot
from pytest_hookharness.execution.state.file_contents import Contents
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.frontends.output.incident_files import (
    circumstances,
    create_in,
    secrets_of,
    write_all,
)
from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Performed, State, Step, Trace
from pytest_hookharness.reports.markdown.incident import entry
from pytest_hookharness.reports.redaction import redacted
from pytest_hookharness.reports.trace import records
from pytest_hookharness.reports.trace.hook_runs import LONGEST, TraceRecord, bound
from pytest_hookharness.reports.trace.read import LONGEST_LINE, TraceRun, read_run
from pytest_hookharness.reports.trace.steps import LONGEST_FILE, Versions
from pytest_hookharness.reports.trace.steps import step as step_record
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

SUFFIX = ".jsonl"
# Bytes of contents that are kept to be compared with later ones, and files that are read at the beginning.
_MOST_KEPT = 16 << 20
_MOST_FILES = 2000
_SHORT = 1 << 10


@dataclass(frozen=True, slots=True)
class TraceItem:
    """
    What a simulation is played for.

    Attributes:
        id: The node id of a test, or of an item of a scenario file.
        again: The shell command that plays it again.
    """

    id: str
    again: str

    @classmethod
    def of_test(cls, node: str, seed: int) -> TraceItem:
        """
        A test of pytest, by its node id.
        """
        return cls(node, shlex.join(["pytest", node, "--hook-seed", str(seed)]))

    @classmethod
    def of_scenario(cls, scenario: Scenario, again: str) -> TraceItem:
        """
        An item of a scenario file, or a scenario that is in none.
        """
        file = "" if scenario.origin is None else f"{scenario.origin.file}::"
        return cls(f"{file}{scenario.id}", again)


@contextmanager
def recording(settings: Settings, item: TraceItem, scenario: Scenario, door: str) -> Generator[Observer]:
    """
    A witness who writes all that it is told into a new file, or looks away if no folder is named.

    Raises:
        SimulationError: The file cannot be written.
    """
    if settings.traces is None:
        yield Observer()
        return
    recorder = _Recorder(settings.traces, item, scenario, settings.seed, door)
    try:
        yield recorder
    except Interrupted as interrupted:
        recorder.end(interrupted.outcome)
        raise
    except NoFreeSlot:
        # It will be played once more, alone.
        recorder.discard()
        raise
    except Exception as error:
        recorder.give_up(f"{type(error).__name__}: {error}")
        raise
    finally:
        recorder.close()


class _Recorder(Observer):
    def __init__(self, folder: Path, item: TraceItem, scenario: Scenario, seed: int, door: str) -> None:
        self._folder = folder
        self._secrets = secrets_of(scenario)
        self._item = redacted(item, self._secrets)
        self._scenario = scenario
        self._seed = seed
        self._door = door
        self._began = datetime.now().astimezone().isoformat(timespec="seconds")
        self._steps: list[Step] = []
        self._files: _Files | None = None
        self._file: FileIO | None = None

    def begin(self, stage: Testbed) -> None:
        self._files = _Files(stage)
        self._begin(
            records.TraceHeader(
                id=self._item.id,
                door=self._door,
                host=stage.profile.id,
                seed=self._seed,
                tier=stage.sandbox.tier,
                hooks=stage.configuration.hooks,
                again=self._item.again,
                began=self._began,
            )
        )

    def _begin(self, occasion: records.TraceHeader) -> None:
        try:
            self._file = create_in(self._folder, self._item.id, SUFFIX)
        except OSError as error:
            raise self._trouble(error) from error
        self._write(records.begin(redacted(self._scenario, self._secrets), redacted(occasion, self._secrets)))

    def step(self, step: Step) -> None:
        contents = self._files.compare(step) if self._files is not None else {}
        self._steps.append(redacted(step, self._secrets))
        self._write(step_record(self._steps[-1], redacted(contents, self._secrets)))

    def state(self, turn: int, state: State) -> None:
        self._write(records.state(turn, replace(state, visible=redacted(state.visible, self._secrets))))

    def end(self, outcome: Outcome) -> None:
        told = redacted(replace(outcome, trace=Trace()), self._secrets)
        told = replace(told, trace=Trace(steps=tuple(self._steps)))
        codes = {code.code: code for code in catalogue()}
        around = redacted(circumstances(self._item.again), self._secrets)
        self._write(records.end(told, codes, around.again, entry(told, around)))

    def give_up(self, why: str) -> None:
        """
        Write down why there is no verdict.
        """
        if self._file is None:
            occasion = records.TraceHeader(
                id=self._item.id,
                door=self._door,
                host=self._scenario.host,
                seed=self._seed,
                again=self._item.again,
                began=self._began,
            )
            self._begin(occasion)
        self._write(records.trouble(redacted(why, self._secrets)))

    def discard(self) -> None:
        """
        Leave no file behind.
        """
        if self._file is not None:
            self.close()
            Path(str(self._file.name)).unlink(missing_ok=True)

    def close(self) -> None:
        """
        Write no more.
        """
        if self._file is not None:
            self._file.close()

    def _write(self, record: TraceRecord) -> None:
        if self._file is None or self._file.closed:
            return
        line = _line(record, LONGEST)
        if len(line) > LONGEST_LINE:
            line = _line(record, _SHORT)
        try:
            write_all(self._file, line)
        except OSError as error:
            self._file.close()
            raise self._trouble(error) from error

    def _trouble(self, error: OSError) -> SimulationError:
        where = self._folder if self._file is None else self._file.name
        return SimulationError(
            f"trace files: {where} cannot be written ({error.strerror}); make room, or name another folder"
        )


def _line(record: TraceRecord, longest: int) -> bytes:
    return json.dumps(bound(record, longest), separators=(",", ":")).encode() + b"\n"


class _Files:
    """
    The contents of covered files as they were last seen, by their digests.
    """

    def __init__(self, stage: Testbed) -> None:
        self._stage = stage
        self._contents = Contents(stage.workspace.roots)
        self._known: dict[str, bytes] = {}
        self._size = 0
        for path in [*stage.files][:_MOST_FILES]:
            if self._size < _MOST_KEPT:
                self._keep(path)

    def compare(self, step: Step) -> Mapping[str, Versions]:
        """
        What is known of the contents of the files that a step changed.
        """
        if not isinstance(step.exchange, HookEvent | Performed):
            return {}
        return {
            change.path: Versions(
                b"" if change.how == "added" else self._known.get(change.before),
                b"" if change.how == "removed" else self._keep(change.path),
            )
            for change in step.exchange.changes
        }

    def _keep(self, path: str) -> bytes | None:
        entry = self._stage.files.get(path)
        if entry is None or entry.kind != "file":
            return None
        # Whoever opens that is taken for a hook.
        if self._stage.workspace.locate(path) == self._stage.transcript:
            return None
        try:
            data = self._contents.read(path)
        except WorkspaceError:
            return None
        if data is None or len(data) > LONGEST_FILE:
            return None
        if entry.content not in self._known:
            self._known[entry.content] = data
            self._size += len(data)
            while self._size > _MOST_KEPT:
                self._size -= len(self._known.pop(next(iter(self._known))))
        return data


def read_file(path: Path) -> TraceRun | None:
    """
    The run that a trace file tells of; ``None`` if no line of it is whole.

    Raises:
        UnreadableTrace: It is no trace file.
        OSError: It cannot be read.
    """

    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                yield line

    return read_run(lines(), str(path))
