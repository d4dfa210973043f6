"""
Hook runs that are forked from a prepared interpreter, once it is seen that the hook runs alike then.

Before the first run of a hook it is tried twice, as usual and forked, from the same files, which are restored
each time. A hook that runs differently when it is forked is always started as usual.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from pytest_hookharness.execution.processes.warm_commands import find_warm
from pytest_hookharness.execution.snapshots.inventory import SnapshotError
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.processes import Exited, ProcessResult, ProcessSpec, Signaled
from pytest_hookharness.model.trace import StateEntry
from pytest_hookharness.simulation.testbed.testbed import Testbed
from pytest_hookharness.simulation.testbed.undo import undone

# For the whole pytest session: whether a hook may be forked, and the difference that forbids it, by a digest
# of all that it depends on.
_checked: dict[str, tuple[bool, str]] = {}
# Seconds; a hook that takes longer gains too little for three runs more.
_QUICK = 1.0
# Usual runs that must agree with the first one before a difference is reported: an order of two things that
# changes by chance agrees in half of them.
_AGREEING = 7


@dataclass(frozen=True, slots=True)
class _Trial:
    """One run from the same files as the others: its result, and the files after it."""

    result: ProcessResult
    files: Mapping[str, StateEntry]

    @property
    def ended(self) -> bool:
        """Whether the process ended by itself, so that it can be compared."""
        return isinstance(self.result.ending, Exited | Signaled)

    def difference(self, other: _Trial) -> str:
        """Return the first difference from another run, in words; empty if there is none."""
        own, others = self.result, other.result
        if own.ending != others.ending:
            return "how it ended"
        if own.stdout != others.stdout:
            return "its standard output"
        if own.stderr != others.stderr:
            return "its standard error"
        return next((f"the file {change.path}" for change in changes(other.files, self.files)), "")


def run_warm(testbed: Testbed, specs: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
    """
    Run the processes of hooks; a single one is forked from a prepared interpreter where that is sound.

    Runs whose clock, reads, lines or duration are changed or watched need a start of their own. So do those
    that reach what a trial cannot undo.
    """
    spec, scenario = specs[0], testbed.scenario
    changed = testbed.workspace.clock.seconds or testbed.settings.coverage_store
    watched = changed or testbed.observer or scenario.expect.within_ms
    shared = scenario.processes or scenario.network or scenario.cover or scenario.fake_agents
    if len(specs) > 1 or watched or shared or not testbed.sandbox.contained:
        return testbed.run_processes(specs, budget)
    command = find_warm(spec, testbed.visible, testbed.workspace.writable)
    if command is None:
        return testbed.run_processes(specs, budget)
    began = time.monotonic()
    warm = replace(spec, warm=command.interpreter)
    if command.digest not in _checked:
        _checked[command.digest] = _check(testbed, spec, warm, budget)
    may_fork, difference = _checked[command.digest]
    left = max(0.0, budget - (time.monotonic() - began))
    (result,) = testbed.run_processes([warm if may_fork else spec], left)
    return (replace(result, warm_difference=difference),)


def _check(testbed: Testbed, cold: ProcessSpec, warm: ProcessSpec, budget: float) -> tuple[bool, str]:
    """Return whether a hook may be forked, and the difference that forbids it."""
    end = time.monotonic() + budget

    def run(spec: ProcessSpec) -> _Trial:
        with undone(testbed):
            (result,) = testbed.run_processes([spec], max(0.0, end - time.monotonic()))
            testbed.note_changes(())
            return _Trial(result, testbed.files)

    testbed.note_changes(())
    try:
        with testbed.keeping_changes():
            # The first is started as usual, since an interpreter is prepared only for what comes again.
            usual = run(warm)
            if not usual.ended or usual.result.wall > _QUICK:
                return False, ""
            forked = run(warm)
            if usual.result.warm or not forked.result.warm or not forked.ended:
                return False, ""
            difference = forked.difference(usual)
            # A hook that differs from itself, as one that prints the time, has no defect.
            again = (usual.difference(run(cold)) for _ in range(_AGREEING if difference else 0))
            own = next(filter(None, again), "")
    except SnapshotError:
        return False, ""
    return not difference, "" if own else difference
