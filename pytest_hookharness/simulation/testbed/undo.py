"""Files of a testbed that are changed by trials and then restored."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager

from pytest_hookharness.execution.state.touches import Touched
from pytest_hookharness.execution.workspace.workspace import OUTSIDE
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


class SavedFiles:
    """The files of a testbed at one moment, to which they can be restored any number of times."""

    def __init__(self, testbed: Testbed) -> None:
        """Save the files, all scanned; raise ``SnapshotError``, and do nothing, if they cannot be saved."""
        self._testbed = testbed
        self._files = testbed.files
        self._snapshot = testbed.snapshots.take()
        self._moment = testbed.scanner.touches.moment
        # Taking the snapshot read the transcript; without this, a hook would seem to have read it.
        testbed.scanner.settle()

    def restore(self, what: str, *, scanned: bool = False) -> None:
        """
        Make the files as they were.

        Args:
            scanned: Whether nothing was written since the last scan.

        Raises:
            SimulationError: The files differ afterwards. Nothing that follows could be trusted.
        """
        testbed = self._testbed
        if not scanned:
            testbed.scan()
        with unmounted(testbed, (change.path for change in changes(self._files, testbed.files))):
            testbed.snapshots.restore(self._snapshot, self._touched)
        testbed.workspace.clock.accept()
        settle(testbed)
        if testbed.files != self._files:
            differing = ", ".join(change.path for change in changes(self._files, testbed.files)[:3])
            raise SimulationError(f"{what} could not be undone, a defect of the harness: {differing}")
        self._moment = testbed.scanner.touches.moment

    @property
    def _touched(self) -> Touched | None:
        """The paths that were touched since the files were saved; ``None`` if they are unknown."""
        testbed = self._testbed
        # Elsewhere a process may give a file a name in a folder that nobody watches, and write to it by that.
        return testbed.scanner.touches.since(self._moment) if testbed.sandbox.contained else None


def settle(testbed: Testbed) -> None:
    """Take the files as they are now for the last scan, and the reads of the harness for nobody's."""
    testbed.scan()
    testbed.scanner.settle()


@contextmanager
def unmounted(testbed: Testbed, paths: Iterable[str]) -> Generator[None]:
    """Close the sandbox for a block if one of the paths lies below its overlay."""
    if any(path.startswith(f"{OUTSIDE}/") for path in paths):
        with testbed.without_sandbox():
            yield
    else:
        yield


@contextmanager
def undone(testbed: Testbed) -> Generator[None]:
    """
    Restore files, clock and answers after a block; what changed before the block must have been scanned.

    Raises:
        SnapshotError: The files cannot be saved; nothing was done.
        SimulationError: The files differ afterwards. Nothing that follows could be trusted.
    """
    answers, configuration = testbed.answers.given, testbed.configuration
    counts, clock = testbed.transcript_counts, testbed.workspace.clock.moment
    saved = SavedFiles(testbed)
    try:
        yield
    finally:
        testbed.rewind(answers=answers, configuration=configuration, transcript_counts=counts, clock=clock)
        saved.restore("a trial")
