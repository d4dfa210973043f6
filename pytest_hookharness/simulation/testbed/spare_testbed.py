"""
A testbed that waits for the next test that asks for the same one.

Most hooks that a test runs leave the workspace as it was. Then only the sandbox is new for the next test: its
processes, namespaces and mounts. The folders, and what was read in them, are used again, for to make and to
remove them takes longer than such a hook runs.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from weakref import WeakKeyDictionary

from pytest_hookharness.execution.paths import have_stamps, stamps_below
from pytest_hookharness.execution.state.file_contents import RACY
from pytest_hookharness.execution.workspace.visible_machine import identify_machine
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import StateEntry
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Seconds from the making of a testbed to its last use. On a busy machine a new one is as old when its first
# hook runs, so no hook learns from the age of its files that they were there before.
_MAX_AGE = 3.0
# The keys of a scenario that may be used. What all others mean lies outside of the workspace (a project that
# is copied), or the testbed keeps a record of it (calls of test doubles).
_KEYS = frozenset(
    {
        *("name", "variant", "origin", "why", "host", "files", "modes", "options", "flags", "cap", "hooks"),
        *("env", "unset", "order", "on_failure", "stdin", "terminal", "script", "reach", "turns", "expect"),
        *("hook_timeout", "home", "network", "payload", "place", "shell", "subfolder", "until"),
    }
)
_OTHERS = tuple(name for name in Scenario.__dataclass_fields__ if name not in _KEYS)
_PLAIN = Scenario(name="plain")


@dataclass(frozen=True, slots=True)
class _Origin:
    """
    What a testbed was when it was new.

    Attributes:
        machine: What distinguishes the machine from another one.
        stamps: What the system notes of its folders.
        settled: Whether a change since these were noted would show in them, however coarse the clock is.
    """

    scenario: Scenario
    made: float
    machine: tuple[object, ...]
    files: Mapping[str, StateEntry]
    stamps: Mapping[str, tuple[int, ...]]
    settled: bool


class SpareTestbed:
    """Keeps one testbed that a test has used and left as it was."""

    def __init__(self) -> None:
        self._lent: WeakKeyDictionary[Testbed, _Origin] = WeakKeyDictionary()
        self._spare: tuple[Testbed, _Origin] | None = None

    def lend(self, scenario: Scenario, testbed: Testbed) -> Testbed:
        """Return a new testbed, and note what it is like so that it may be used again."""
        records = testbed.settings.coverage_store is not None
        if not records and all(getattr(scenario, name) == getattr(_PLAIN, name) for name in _OTHERS):
            made, machine = time.monotonic(), _machine(testbed)
            self._lent[testbed] = _Origin(scenario, made, machine, testbed.files, *_look(testbed))
        return testbed

    def take(self, scenario: Scenario) -> Testbed | None:
        """Return the spare testbed with a new sandbox; close it if it is not what a new one would be."""
        if self._spare is None:
            return None
        testbed, origin = self._spare
        young = time.monotonic() - origin.made < _MAX_AGE
        if not young or origin.scenario != scenario or _machine(testbed) != origin.machine:
            self.close()
            return None
        renewed = testbed.sandbox.wait_until_renewed()
        # Now no process of the test before is alive.
        seen = _look_again(testbed, origin)
        if seen is None:
            self.close()
            return None
        if not renewed:
            try:
                testbed.renew_sandbox()
            except BaseException:
                self.close()
                raise
        self._spare = None
        self._lent[testbed] = seen
        return testbed

    def give_back(self, testbed: Testbed) -> None:
        """Keep a testbed whose covered files are as they were, and begin with its next sandbox."""
        self.close()
        origin = self._lent.pop(testbed, None)
        same = origin is not None and testbed.files is origin.files and not testbed.transcript_counts
        if origin is None or not same or time.monotonic() - origin.made > _MAX_AGE:
            testbed.close()
            return
        self._spare = testbed, origin
        if not testbed.sandbox.renew():
            testbed.sandbox.close()

    def close(self) -> None:
        """Close the spare testbed."""
        if self._spare is not None:
            (testbed, _), self._spare = self._spare, None
            testbed.close()


def _machine(testbed: Testbed) -> tuple[object, ...]:
    # A test may have changed what a new testbed would show of the machine.
    paths = (*testbed.workspace.looked_up, *testbed.visible)
    return identify_machine(paths, mounts=testbed.sandbox.contained)


def _look_again(testbed: Testbed, origin: _Origin) -> _Origin | None:
    """Return what a testbed was when it was new, with what is noted now; ``None`` if it was touched since."""
    # To list the folders takes most of the time, so they are listed only once after they have settled.
    if origin.settled and have_stamps(origin.stamps):
        return origin
    stamps, settled = _look(testbed)
    # In this one are the places of the mounts.
    top = {str(testbed.workspace.outside): ()}
    same = {**stamps, **top} == {**origin.stamps, **top}
    return replace(origin, stamps=stamps, settled=settled) if same else None


def _look(testbed: Testbed) -> tuple[Mapping[str, tuple[int, ...]], bool]:
    """Return what the system notes of the folders of a testbed, and whether a change would show in that."""
    # The covered files were compared by their content; this tells of everything else.
    workspace, now = testbed.workspace, time.time_ns()
    # Below these two are the mounts of a sandbox, which each one makes anew.
    mounts = {str(workspace.outside / name) for name in ("root", "work")}
    stamps = stamps_below(workspace.base, without={str(workspace.outside)})
    stamps |= stamps_below(workspace.outside, without=mounts)
    return stamps, all(max(stamp[:2]) < now - RACY for stamp in stamps.values())
