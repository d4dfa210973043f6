"""
Uncapped turns: a loop that the host would soon end, played on as if it had no limits.

A hook that would allow the stop in turn 50 never comes to it on a host whose cap ends the loop in turn 9.
These turns are played before anything is claimed of the hook, and it sees nothing of the difference.
"""

from __future__ import annotations

from collections.abc import Callable

from pytest_hookharness import hosts
from pytest_hookharness.execution.snapshots.snapshot import SnapshotError
from pytest_hookharness.model.fast_dataclass import replace
from pytest_hookharness.model.probes import ProbeReport, Threshold
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.session.history import Repetition
from pytest_hookharness.simulation.testbed.testbed import Testbed

_BY_HOOKS = frozenset(("stopped", "halted"))


def play_uncapped(
    testbed: Testbed, repetition: Repetition, turns: int, remaining: Callable[[], float]
) -> ProbeReport:
    """
    Play on after a repetition until the hooks end it, and restore the testbed.

    Args:
        turns: The last turn that may be played.
        remaining: Returns the seconds of real time that are left for these turns.

    Returns:
        A report without experiments; it has a threshold if the hooks ended the loop.
    """
    report = ProbeReport(turn=repetition.point.turn, period=repetition.period)
    try:
        checkpoint = Checkpoint(testbed, repetition.uncapped)
    except SnapshotError:
        # The experiments that follow say so.
        return report
    with checkpoint:
        driver = checkpoint.resume()
        ended = _play(driver, repetition, turns, remaining)
        report = replace(report, uncapped=driver.turn - driver.out_of_time)
    if ended is None or ended.how not in _BY_HOOKS:
        return report
    return replace(report, threshold=Threshold(at="", what=ended.why, turn=report.uncapped, allows_stop=True))


def _play(
    driver: SessionDriver, repetition: Repetition, turns: int, remaining: Callable[[], float]
) -> hosts.Ended | None:
    """Return how the session, or the agent's turn in it, ended; ``None`` if it did not."""
    before, first = repetition.start.progress.session, driver.turn
    request: hosts.Request | None = driver.progress.request
    while isinstance(request, hosts.NextAct):
        if request.turn_over:
            return request.ending
        if driver.turn >= turns:
            return None
        if (driver.turn - first) % repetition.period == 0:
            driver.replace_session(driver.progress.session.with_host_counts_of(before))
        driver.give(request, driver.choose(request))
        request = driver.drive(remaining)
    return request if isinstance(request, hosts.Ended) else None
