"""Trials on a testbed that leave nothing behind."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from pytest_hookharness.execution.workspace.workspace import OUTSIDE
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed


@contextmanager
def undone(testbed: Testbed) -> Generator[None]:
    """
    Restore files, clock and answers after a block; what changed before the block must have been scanned.

    Raises:
        SnapshotError: The files cannot be saved; nothing was done.
        SimulationError: The files differ afterwards. Nothing that follows could be trusted.
    """
    files = testbed.files
    answers, configuration = testbed.answers.given, testbed.configuration
    counts, clock = testbed.transcript_counts, testbed.workspace.clock.seconds
    snapshot = testbed.snapshots.take()
    testbed.scanner.settle()
    try:
        yield
    finally:
        testbed.rewind(answers=answers, configuration=configuration, transcript_counts=counts, clock=clock)
        testbed.scan()
        if any(change.path.startswith(f"{OUTSIDE}/") for change in changes(files, testbed.files)):
            with testbed.without_sandbox():
                testbed.snapshots.restore(snapshot)
        else:
            testbed.snapshots.restore(snapshot)
        testbed.workspace.clock.accept()
        testbed.scan()
        testbed.scanner.settle()
    if testbed.files != files:
        differing = ", ".join(change.path for change in changes(files, testbed.files)[:3])
        raise SimulationError(f"a trial could not be undone, a defect of the harness: {differing}")
