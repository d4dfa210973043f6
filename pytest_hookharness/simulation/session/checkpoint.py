"""Checkpoints: a testbed whose files are changed and used for trials, and then restored."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager

from pytest_hookharness.execution.state.file_contents import LARGEST_STATE_FILE, Contents
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.model.time_budget import granted, remaining
from pytest_hookharness.simulation.session.driver import SessionDriver, SessionPoint
from pytest_hookharness.simulation.testbed.testbed import Testbed
from pytest_hookharness.simulation.testbed.undo import SavedFiles, settle, unmounted

# Seconds in which files can be restored, however little is left of the budget.
_UNDOING = 1.0
# Sizes above this, in bytes, are not tried.
_LONGEST_TRANSCRIPT = 10_000_000


class CheckpointEditor:
    """Reads and changes the covered files of a testbed while no process runs on it."""

    def __init__(self, testbed: Testbed) -> None:
        self._testbed = testbed
        self._contents = Contents(testbed.workspace.roots)

    def read(self, path: str) -> bytes | None:
        """Return the content of a covered file; ``None`` if it does not exist or is too large."""
        try:
            return self._contents.read(path)
        except WorkspaceError:
            return None

    def write(self, files: Mapping[str, bytes | None]) -> None:
        """Replace the contents of covered files; ``None`` removes a file."""
        with unmounted(self._testbed, files):
            self._contents.write(files)
        settle(self._testbed)

    def wait(self, seconds: float) -> None:
        """Wait in real time, without the CPU slot."""
        with self._testbed.slot.released():
            time.sleep(seconds)

    def age(self, seconds: float) -> None:
        """Move the times of all covered files back."""
        self._testbed.workspace.clock.age(seconds, self._contents.age)
        settle(self._testbed)

    def shift(self, seconds: float, since: float) -> None:
        """Move the times of the covered files that were written since a time by the hooks' clock."""
        self._testbed.workspace.clock.shift(seconds, since)
        settle(self._testbed)

    def lengthen_transcript(self, times: int, sizes: Collection[int]) -> None:
        """Make the transcript ``times`` as long if that is possible, and longer than the reachable sizes."""
        transcript = self._testbed.transcript
        data = transcript.read_bytes() if transcript is not None and transcript.is_file() else b""
        if transcript is not None and data:
            with transcript.open("ab") as file:
                length = len(data)
                longer = max((size for size in sizes if size <= _LONGEST_TRANSCRIPT), default=0)
                wanted = max(min(times * length, LARGEST_STATE_FILE), longer + 1)
                file.write(data * (-(-wanted // length) - 1))
        settle(self._testbed)


class Checkpoint(AbstractContextManager["Checkpoint"]):
    """
    A testbed as it was at one point, to which it can be restored any number of times.

    While it is open, nothing that runs on the testbed belongs to the trace of the run.
    """

    def __init__(self, testbed: Testbed, point: SessionPoint) -> None:
        self.editor = CheckpointEditor(testbed)
        self._testbed = testbed
        self._point = point
        testbed.scan()
        self._saved = SavedFiles(testbed)

    def __exit__(self, *_: object) -> None:
        self.restore()

    def resume(self, point: SessionPoint | None = None) -> SessionDriver:
        """Return a driver that resumes the session at a point; at that of the checkpoint if none is given."""
        return SessionDriver.resume(self._testbed, point or self._point)

    def restore(self, *, scanned: bool = False) -> None:
        """
        Make everything as it was when the checkpoint was taken.

        Args:
            scanned: Whether nothing was written since the last scan.

        Raises:
            SimulationError: The files differ afterwards. Nothing that follows could be trusted.
        """
        with granted(max(_UNDOING, remaining())):
            # First the settings and whether the transcript counts: they decide which files belong to the
            # state.
            SessionDriver.resume(self._testbed, self._point)
            self._saved.restore("a probe", scanned=scanned)
