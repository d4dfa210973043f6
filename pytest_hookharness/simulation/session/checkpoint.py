"""Checkpoints: a testbed whose files are changed and used for trials, and then restored."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager

from pytest_hookharness.execution.state.file_contents import LARGEST_STATE_FILE, Contents
from pytest_hookharness.execution.workspace.workspace import OUTSIDE, WorkspaceError
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.simulation.session.driver import SessionDriver, SessionPoint
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


class CheckpointEditor:
    """Reads and changes the covered files of a testbed while no process runs on it."""

    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self._contents = Contents(testbed.workspace.roots)

    @property
    def now(self) -> float:
        """The time by the hooks' clock, in seconds of the epoch."""
        return self._testbed.workspace.clock.now

    def read(self, path: str) -> bytes | None:
        """Return the content of a covered file; ``None`` if it does not exist or is too large."""
        try:
            return self._contents.read(path)
        except WorkspaceError:
            return None

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """Replace the contents of covered files; ``None`` removes a file."""
        with self.unmounted(files):
            self._contents.write(files)
        self.settle()

    def wait(self, seconds: float) -> None:
        """Wait in real time, without the CPU slot."""
        with self._testbed.slot.released():
            time.sleep(seconds)

    def age(self, seconds: float) -> None:
        """Move the times of all covered files back."""
        self._contents.age(seconds)
        self.settle()

    def shift(self, seconds: float, since: float) -> None:
        """Move the times of the covered files that were written since a time by the hooks' clock."""
        self._testbed.workspace.clock.shift(seconds, since)
        self.settle()

    def lengthen_transcript(self, times: int) -> None:
        """Make the transcript several times as long by repeating it."""
        transcript = self._testbed.transcript
        data = transcript.read_bytes() if transcript is not None and transcript.is_file() else b""
        if transcript is not None and data:
            with transcript.open("ab") as file:
                file.write(data * min(times - 1, LARGEST_STATE_FILE // len(data)))
        self.settle()

    def settle(self) -> None:
        """Take the files as they are now for the last scan, and the reads of the harness for nobody's."""
        self._testbed.scan()
        self._testbed.scanner.settle()

    @contextmanager
    def unmounted(self, paths: Iterable[str]) -> Generator[None]:
        """Close the sandbox for a block if one of the paths lies below its overlay."""
        if any(path.startswith(f"{OUTSIDE}/") for path in paths):
            with self._testbed.without_sandbox():
                yield
        else:
            yield


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """
    A testbed as it was at one point, to which it can be restored any number of times.

    While it is open, nothing that runs on the testbed belongs to the trace of the run.

    Attributes:
        editor: Changes the files of the testbed.
    """

    def __init__(self, testbed: Testbed, point: SessionPoint) -> None:
        self.editor = CheckpointEditor(testbed)
        self._testbed = testbed
        self._point = point
        testbed.scan()
        self._files = testbed.files
        self._snapshot = testbed.snapshots.take()
        # Taking the snapshot read the transcript; without this, a hook would seem to have read it.
        testbed.scanner.settle()

    def __exit__(self, *_: object) -> None:
        self.restore()

    def resume(self, point: SessionPoint | None = None) -> SessionDriver:
        """Return a driver that resumes the session at a point; at that of the checkpoint if none is given."""
        return SessionDriver.resume(self._testbed, point or self._point)

    def restore(self) -> None:
        """
        Make everything as it was when the checkpoint was taken.

        Raises:
            SimulationError: The files differ afterwards. Nothing that follows could be trusted.
        """
        testbed = self._testbed
        # First the settings and whether the transcript counts: they decide which files belong to the state.
        SessionDriver.resume(testbed, self._point)
        testbed.scan()
        with self.editor.unmounted(change.path for change in changes(self._files, testbed.files)):
            testbed.snapshots.restore(self._snapshot)
        testbed.workspace.clock.accept()
        self.editor.settle()
        if testbed.files != self._files:
            differing = ", ".join(change.path for change in changes(self._files, testbed.files)[:3])
            raise SimulationError(f"a probe could not be undone, a defect of the harness: {differing}")
