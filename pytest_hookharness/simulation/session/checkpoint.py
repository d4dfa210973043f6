"""
Rehearsals: a stage whose files are changed, played on, and put back.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from pytest_hookharness.execution.state.file_contents import LARGEST_STATE_FILE, Contents
from pytest_hookharness.execution.workspace.workspace import OUTSIDE, WorkspaceError
from pytest_hookharness.judging.recurrence.fingerprint import changes
from pytest_hookharness.simulation.session.driver import SessionDriver, SessionPoint
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


class CheckpointEditor:
    """
    What is behind the stage: covered files that are read and changed while no process lives.
    """

    def __init__(self, stage: Testbed) -> None:
        self._stage = stage
        self._contents = Contents(stage.workspace.roots)

    @property
    def now(self) -> float:
        """
        The time by the hooks' clock, in seconds of the epoch.
        """
        return self._stage.workspace.clock.now

    def read(self, path: str) -> bytes | None:
        """
        The content of a covered file; ``None`` if there is none that could be looked into.
        """
        try:
            return self._contents.read(path)
        except WorkspaceError:
            return None

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """
        Give covered files other contents.
        """
        with self.behind(files):
            self._contents.write(files)
        self.settle()

    def wait(self, seconds: float) -> None:
        """
        Let real time pass.
        """
        with self._stage.slot.released():
            time.sleep(seconds)

    def age(self, seconds: float) -> None:
        """
        Move the times of all covered files back.
        """
        self._contents.age(seconds)
        self.settle()

    def shift(self, seconds: float, since: float) -> None:
        """
        Move the times of covered files that were written since a time by the hooks' clock.
        """
        self._stage.workspace.clock.shift(seconds, since)
        self.settle()

    def lengthen_transcript(self, times: int) -> None:
        """
        Make the transcript several times as long as it is, by more of the same.
        """
        transcript = self._stage.transcript
        data = transcript.read_bytes() if transcript is not None and transcript.is_file() else b""
        if transcript is not None and data:
            with transcript.open("ab") as file:
                file.write(data * min(times - 1, LARGEST_STATE_FILE // len(data)))
        self.settle()

    def settle(self) -> None:
        """
        Take what is now for given, without taking ourselves for a reader of the transcript.
        """
        self._stage.scan()
        self._stage.scanner.settle()

    @contextmanager
    def behind(self, paths: Iterable[str]) -> Generator[None]:
        """
        Have no overlay meanwhile, if one of the files stands behind it: those may not change under its feet.
        """
        if any(path.startswith(f"{OUTSIDE}/") for path in paths):
            with self._stage.offstage():
                yield
        else:
            yield


class Checkpoint:
    """
    The stage as it is now, to come back to as often as one likes.

    While it is open, nothing that is played on the stage belongs to the run.

    Attributes:
        backstage: Where its files are changed.
    """

    def __init__(self, stage: Testbed, moment: SessionPoint) -> None:
        self.backstage = CheckpointEditor(stage)
        self._stage = stage
        self._moment = moment
        stage.scan()
        self._files = stage.files
        self._snapshot = stage.snapshots.take()
        stage.scanner.settle()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.put_back()

    def player(self, moment: SessionPoint | None = None) -> SessionDriver:
        """
        A player that goes on from a moment; from the one at which the rehearsal began if none is given.
        """
        return SessionDriver.at(self._stage, moment or self._moment)

    def put_back(self) -> None:
        """
        Make everything as it was when the rehearsal began.

        Raises:
            SimulationError: It could not be made the same again.
        """
        stage = self._stage
        # First what belongs to the state at all, then how it differs.
        SessionDriver.at(stage, self._moment)
        stage.scan()
        with self.backstage.behind(change.path for change in changes(self._files, stage.files)):
            stage.snapshots.restore(self._snapshot)
        stage.workspace.clock.accept()
        self.backstage.settle()
        if stage.files != self._files:
            differing = ", ".join(change.path for change in changes(self._files, stage.files)[:3])
            raise SimulationError(f"a probe could not be undone, a defect of the harness: {differing}")
