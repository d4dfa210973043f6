"""Mutations that an executor plays, in this process and in others: the same results in any order."""

import importlib.util
import pickle
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from dataclasses import replace
from queue import LifoQueue

import pytest

from pytest_hookharness import simulate
from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.execution.snapshots.inventory import SnapshotError
from pytest_hookharness.model.regex import SlowPattern
from pytest_hookharness.model.time_budget import BudgetEnded
from pytest_hookharness.scenario_files import scenario_from
from pytest_hookharness.simulation.testbed.run_settings import Interrupted, Settings, TrialSelection

GUARDED = {
    "name": "guarded",
    "files": {"guard.sh": "#!/bin/sh\ngrep -q 'rm -rf' || exit 0\necho 'Use git clean.' >&2\nexit 2\n"},
    "modes": {"guard.sh": "755"},
    "hooks": {"PreToolUse": "./guard.sh"},
    "agent": [{"run": "rm -rf build", "expect": "deny"}, {"stop": "Done."}],
    "vary": ["faults"],
}
SETTINGS = Settings(choice=TrialSelection(most=6))
ELSEWHERE = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from test_executors import GUARDED, SETTINGS, seen
from pytest_hookharness import simulate
from pytest_hookharness.scenario_files import scenario_from


@contextmanager
def cluster():
    from distributed import Client, LocalCluster

    made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with made, Client(made) as client:
        yield client.get_executor()


if __name__ == "__main__":
    scenario = scenario_from(GUARDED)
    with {executor} as executor:
        there = seen(simulate(scenario, SETTINGS, executor))
    print(len(there[0]) > 3, there == seen(simulate(scenario, SETTINGS)))
"""


def seen(outcome):
    """Return what the mutations showed."""
    rows = [(one.family, one.mutation, one.hook, one.outcome) for one in outcome.trial_results]
    return rows, outcome.verdict_name, [finding.code for finding in outcome.findings]


class LastFirst(ThreadPoolExecutor):
    """An executor that does the work last that it was given first."""

    def __init__(self):
        super().__init__(1)
        self._work_queue = LifoQueue()


@pytest.mark.nightly
def test_the_order_of_completion_does_not_matter():
    """Mutations that are completed last first show what they show in this process."""
    scenario = scenario_from(GUARDED)
    with LastFirst() as executor:
        there = simulate(scenario, SETTINGS, executor)
    rows, *_ = seen(there)

    assert len(rows) > 3
    assert seen(there) == seen(simulate(scenario, SETTINGS))


@pytest.mark.parametrize(
    "error",
    [
        WorkspaceError("/place", "is full"),
        SnapshotError("/place", "a socket", "it cannot be made again"),
        BudgetEnded("files were listed"),
        SlowPattern("(a+)+", 40),
    ],
)
def test_an_error_in_another_process_keeps_its_words(error):
    """What another process raises can be sent; a pool of processes ends if it cannot."""
    sent = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own

    assert (type(sent), str(sent), vars(sent)) == (type(error), str(error), vars(error))


class Idle(Executor):
    """An executor that does the first work, begins nothing else, and may be interrupted once it has more."""

    def __init__(self, *, interrupted=False):
        self.given = []
        self._interrupted = interrupted

    def submit(self, function, /, *values, **keys):
        future = Future()
        self.given.append(future)
        if len(self.given) == 1:
            future.set_result(function(*values, **keys))
            return future
        if len(self.given) == 4 and self._interrupted:
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        return future


@pytest.mark.slow
def test_ctrl_c_takes_back_what_an_executor_has_not_begun():
    """Ctrl-C while an executor has work ends the run with its outcome so far, and cancels this work."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    executor = Idle(interrupted=True)
    try:
        with pytest.raises(Interrupted) as caught:
            simulate(scenario_from(GUARDED), replace(SETTINGS, wall=20.0), executor)
    finally:
        signal.signal(signal.SIGINT, before)

    assert caught.value.outcome.verdict_name == "terminated"
    assert len(executor.given) >= 4
    assert all(future.cancelled() for future in executor.given[1:])


@pytest.mark.nightly
def test_an_executor_that_begins_nothing_is_waited_for_no_longer_than_the_budget():
    """Mutations that an executor never begins are not tried, and nothing is said about the hooks."""
    outcome = simulate(scenario_from(GUARDED), replace(SETTINGS, wall=3.0), Idle())

    assert outcome.verdict_name == "terminated"
    assert {trial.outcome for trial in outcome.trial_results} == {"not tried"}


@pytest.mark.nightly
@pytest.mark.parametrize(
    "executor",
    [
        'ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))',
        pytest.param(
            "cluster()",
            marks=pytest.mark.skipif(
                importlib.util.find_spec("distributed") is None, reason="distributed is not installed"
            ),
        ),
    ],
    ids=["processes", "cluster"],
)
def test_other_processes_find_the_same(tmp_path, executor):
    """Two processes of a pool, and of a cluster, show what the mutations show in this one."""
    (tmp_path / "elsewhere.py").write_text(ELSEWHERE.format(executor=executor))
    shutil.copy(__file__, tmp_path)
    command = [sys.executable, "elsewhere.py"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert result.stdout == "True True\n", result.stderr
