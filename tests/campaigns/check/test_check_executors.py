"""Sessions of a check that an executor plays, in this process and in others: the same report in any order."""

import importlib.util
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from queue import LifoQueue

import pytest

from pytest_hookharness import check_project
from pytest_hookharness.campaigns.check.check_run import CheckRun
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.sessions import plan_behaviours
from pytest_hookharness.simulation.testbed.run_settings import Settings

SETTINGS = Settings(wall=120.0)
ENDLESS = '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}]}}'
ELSEWHERE = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager

from test_check_executors import SETTINGS, seen
from pytest_hookharness import check_project


@contextmanager
def cluster():
    from distributed import Client, LocalCluster

    made = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with made, Client(made) as client:
        yield client.get_executor()


if __name__ == "__main__":
    with {executor} as executor:
        there = seen(check_project("project", executor, SETTINGS))
    print(len(there[0][0]) > 0, there == seen(check_project("project", settings=SETTINGS)))
"""


def seen(reports):
    """Return what some checks reported, without how long it took."""
    return [
        (
            [
                (one.id, one.symptom.kind, one.symptom.hook, one.scenario.script.acts)
                for one in report.problems
            ],
            # The last one names how long hooks took.
            [text for text in report.tried if " within " not in text],
            report.triggered,
            report.undecided,
        )
        for report in reports
    ]


class LastFirst(ThreadPoolExecutor):
    """An executor that does the work last that it was given first."""

    def __init__(self):
        super().__init__(1)
        self._work_queue = LifoQueue()


@pytest.fixture
def project(tmp_path):
    """A project whose Stop hook never allows a stop."""
    folder = tmp_path / "project"
    (folder / ".claude").mkdir(parents=True)
    (folder / ".claude" / "settings.json").write_text(ENDLESS)
    return folder


@pytest.mark.slow
@pytest.mark.nightly
def test_results_come_in_the_order_of_the_sessions(harness, project):
    """Sessions that an executor completes last first are told in the order in which they were asked for."""
    (place,) = find_hook_sets(project)
    sessions = [*plan_behaviours(place)][:3]
    with LastFirst() as executor:
        run = CheckRun(place, harness.settings, harness.resources, executor=executor)
        played = run.try_out(sessions)

    assert len(sessions) == 3
    assert [one.session for one in played] == sessions
    assert {one.outcome.verdict_name for one in played if one.outcome} == {"livelock"}


@pytest.mark.nightly
def test_the_order_of_completion_does_not_matter(project):
    """Sessions that are completed last first give the report that this process gives."""
    with LastFirst() as executor:
        there = seen(check_project(project, executor, SETTINGS))

    assert "livelock" in [problem[1] for problem in there[0][0]]
    assert there == seen(check_project(project, settings=SETTINGS))


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
def test_other_processes_report_the_same(project, executor):
    """Two processes of a pool, and of a cluster, give the report that this process gives."""
    (project.parent / "elsewhere.py").write_text(ELSEWHERE.format(executor=executor))
    shutil.copy(__file__, project.parent)
    command = [sys.executable, "elsewhere.py"]
    result = subprocess.run(command, cwd=project.parent, capture_output=True, text=True, check=False)

    assert result.stdout == "True True\n", result.stderr
