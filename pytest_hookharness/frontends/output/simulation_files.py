"""
Files about one simulation: its trace while it runs, and an incident report after it; both without secrets.

A trace file has one line for each record. A record is written before the simulation goes on, so that nothing
is lost if this process is killed.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from io import FileIO
from pathlib import Path

from pytest_hookharness.execution.paths import write_all
from pytest_hookharness.execution.processes.slots import NoFreeSlot
from pytest_hookharness.execution.state.file_contents import Contents
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.frontends.replay_command import TraceItem
from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.protocol import Hook, Json
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, Performed, State, Step, Trace
from pytest_hookharness.reports.markdown.incident import IncidentContext, incident_report
from pytest_hookharness.reports.redaction import Secrets, find_secrets, redacted
from pytest_hookharness.reports.trace import records, schema
from pytest_hookharness.reports.trace.hook_runs import LONGEST, TraceRecord, bound
from pytest_hookharness.reports.trace.read import LONGEST_LINE, TraceRun, read_run
from pytest_hookharness.reports.trace.steps import LONGEST_FILE, Versions
from pytest_hookharness.reports.trace.steps import step as step_record
from pytest_hookharness.simulation.loop import Observer
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

SUFFIX = ".jsonl"
# Most bytes of file contents that are kept for diffs, and most files that are read at the start.
_MOST_KEPT = 16 << 20
_MOST_FILES = 2000
_SHORT = 1 << 10


@contextmanager
def recording(
    folder: Path, seed: int, item: TraceItem, scenario: Scenario, front_end: str
) -> Generator[Observer]:
    """
    Open a trace file in a folder, and yield an observer that writes a simulation to it.

    Raises:
        SimulationError: The file cannot be written.
    """
    recorder = _Recorder(folder, item, scenario, seed, front_end)
    try:
        yield recorder
    except Interrupted as interrupted:
        recorder.end(interrupted.outcome)
        raise
    except NoFreeSlot:
        # The simulation will be repeated, and writes a file then.
        recorder.discard()
        raise
    except Exception as error:
        recorder.give_up(f"{type(error).__name__}: {error}")
        raise
    finally:
        recorder.close()


class _Recorder(Observer):
    def __init__(self, folder: Path, item: TraceItem, scenario: Scenario, seed: int, front_end: str) -> None:
        self._folder = folder
        self._secrets = secrets_of(scenario)
        self._item = redacted(item, self._secrets)
        self._scenario = scenario
        self._seed = seed
        self._front_end = front_end
        self._began = datetime.now().astimezone().isoformat(timespec="seconds")
        self._ready = time.monotonic()
        self._steps: list[Step] = []
        self._files: _Files | None = None
        self._file: FileIO | None = None

    def begin(self, testbed: Testbed) -> None:
        self._files = _Files(testbed)
        self._ready = time.monotonic()
        self._begin(testbed.profile.id, testbed.sandbox.tier, testbed.configuration.hooks)

    def _begin(self, host: str, tier: Tier | None = None, hooks: Sequence[Hook] = ()) -> None:
        try:
            self._file = create_in(self._folder, self._item.id, SUFFIX)
        except OSError as error:
            raise self._error(error) from error
        header = records.TraceHeader(
            id=self._item.id,
            front_end=self._front_end,
            host=host,
            seed=self._seed,
            tier=tier,
            hooks=hooks,
            replay_command=self._item.replay,
            began=self._began,
        )
        self._write(records.begin(redacted(self._scenario, self._secrets), redacted(header, self._secrets)))

    def step(self, step: Step) -> None:
        at = time.monotonic() - self._ready
        contents = self._files.compare(step) if self._files is not None else {}
        self._steps.append(redacted(step, self._secrets))
        self._write(step_record(self._steps[-1], redacted(contents, self._secrets), at))

    def state(self, turn: int, state: State) -> None:
        self._write(records.state(turn, replace(state, visible=redacted(state.visible, self._secrets))))

    def note(self, record: Mapping[str, Json]) -> None:
        self._write(redacted(dict(record), self._secrets))

    def end(self, outcome: Outcome) -> None:
        # The steps have been redacted one by one.
        seen = redacted(replace(outcome, trace=Trace()), self._secrets)
        seen = replace(seen, trace=Trace(steps=tuple(self._steps)))
        codes = {code.code: code for code in catalogue()}
        context = redacted(_context(self._item.replay), self._secrets)
        self._write(records.end(seen, codes, context.replay_command, incident_report(seen, context)))

    def give_up(self, why: str) -> None:
        """Write why there is no verdict."""
        if self._file is None:
            self._begin(self._scenario.host)
        self._write(records.trouble(redacted(why, self._secrets)))

    def discard(self) -> None:
        """Close and remove the file."""
        if self._file is not None:
            self.close()
            Path(str(self._file.name)).unlink(missing_ok=True)

    def close(self) -> None:
        """Close the file."""
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
            raise self._error(error) from error

    def _error(self, error: OSError) -> SimulationError:
        where = self._folder if self._file is None else self._file.name
        return SimulationError(
            f"trace files: {where} cannot be written ({error.strerror}); free space, or name another folder"
        )


def _line(record: TraceRecord, longest: int) -> bytes:
    return json.dumps(bound(record, longest), separators=(",", ":")).encode() + b"\n"


class _Files:
    """The last known contents of the files that a simulation watches, by digest."""

    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self._contents = Contents(testbed.workspace.roots)
        self._known: dict[str, bytes] = {}
        self._size = 0
        for path in [*testbed.files][:_MOST_FILES]:
            if self._size < _MOST_KEPT:
                self._keep(path)

    def compare(self, step: Step) -> Mapping[str, Versions]:
        """Return the known contents, before and after, of the files that a step changed."""
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
        entry = self._testbed.files.get(path)
        if entry is None or entry.kind != "file":
            return None
        # Opening the transcript would be counted as a hook that reads it.
        if self._testbed.workspace.locate(path) == self._testbed.transcript:
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
    Return the run in a trace file; ``None`` if it has no complete line.

    Raises:
        UnreadableTrace: It is not a trace file.
        OSError: It cannot be read.
    """

    def lines() -> Iterator[bytes]:
        with path.open("rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                yield line

    return read_run(lines(), str(path))


def compose_incident(outcome: Outcome, replay: str, responses: Sequence[Response] = ()) -> str:
    """Return the incident report of an outcome, and of the single events that the same test ran."""
    secrets = secrets_of(outcome.scenario)
    # A report prints no states, and redacting thousands of them takes long.
    seen = replace(outcome, trace=replace(outcome.trace, states={}))
    return incident_report(redacted(seen, secrets), redacted(_context(replay, responses), secrets))


def _context(replay: str, responses: Sequence[Response] = ()) -> IncidentContext:
    """Return the context of a report that is written now, on this machine."""
    versions = (
        f"pytest-hookharness {version('pytest-hookharness')}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"{platform.system()} {platform.release()}",
    )
    day = datetime.now().astimezone().date().isoformat()
    return IncidentContext(
        replay_command=replay, day=day, versions=versions, asked=responses, root=Path.cwd()
    )


def secrets_of(scenario: Scenario) -> Secrets:
    """Return what must not be written: secrets in the variables of a scenario and of this process."""
    return find_secrets(scenario.env, os.environ, words=schema.words())


def write_incident(folder: Path, item: str, text: str) -> Path:
    """Write an incident report into a new file; earlier ones stay, as somebody may have edited them."""
    with create_in(folder, item, ".md") as file:
        write_all(file, text.encode())
    return Path(str(file.name))


_LONGEST = 80


def create_in(folder: Path, item: str, suffix: str) -> FileIO:
    """Create a file in a folder, named after a test item; files of other items or earlier runs stay."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", item)[-_LONGEST:].strip("-")
    # The digest keeps apart items whose readable names are equal.
    name = f"{readable}-{hashlib.sha256(item.encode()).hexdigest()[:8]}"
    path, number = folder / f"{name}{suffix}", 1
    while True:
        try:
            return path.open("xb", buffering=0)
        except FileExistsError:
            number += 1
            path = folder / f"{name}-{number}{suffix}"
