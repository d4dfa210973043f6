"""Jobs that run at the same time, with plain functions as jobs."""

import os
import threading
from pathlib import Path

import pytest

from pytest_hookharness.execution.processes.slots import NoFreeSlot, processors
from pytest_hookharness.simulation.parallel_jobs import run_jobs

BASE = Path("/base")


def test_each_result_comes_with_the_position_of_its_job():
    """Each result comes with the position of its job, and each job has a folder of its own."""
    jobs = [lambda _, base, place=place: (place, base) for place in range(5)]

    assert dict(run_jobs(jobs, BASE)) == {place: (place, BASE / str(place)) for place in range(5)}


def test_no_empty_folder_of_a_job_is_left(tmp_path):
    """A file that a job wrote stays, and an empty folder is removed, also if the job failed."""

    def removes(_, base):
        base.mkdir()

    def keeps(_, base):
        (base / "kept").mkdir(parents=True)

    def fails(_, base):
        base.mkdir()
        raise NoFreeSlot

    list(run_jobs([removes, keeps], tmp_path))
    with pytest.raises(NoFreeSlot):
        list(run_jobs([fails], tmp_path))

    assert [path.name for path in tmp_path.iterdir()] == ["1"]


def test_a_job_without_a_free_slot_runs_again():
    """A job that lost its CPU slot runs once more, with a slot that it does not leave while hooks wait."""
    shared = []

    def displaced(slot, _):
        shared.append(slot.shared)
        if slot.shared:
            raise NoFreeSlot
        return "again"

    assert dict(run_jobs([displaced, lambda *_: "beside"], BASE)) == {0: "again", 1: "beside"}
    assert shared == [True, False]


def test_a_job_that_fails_ends_the_others():
    """The exception of a job is raised, and jobs that wait for a slot are ended."""
    begun = threading.Event()

    def stands(slot, _):
        begun.wait(10)
        slot.leave()
        slot.take()

    def fails(*_):
        begun.set()
        raise ValueError("no such thing")

    with pytest.raises(ValueError, match="no such thing"):
        list(run_jobs([fails, *[stands] * 5], BASE))


def test_no_job_gives_no_result():
    """Without a job there is no result."""
    assert list(run_jobs([], BASE)) == []


@pytest.mark.parametrize(("workers", "share"), [("", 8), ("3", 2), ("8", 1), ("20", 1)])
def test_workers_share_the_processors(monkeypatch, workers, share):
    """Each of several workers of one run has its share of the processors, and at least one."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8), raising=False)
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", workers)

    assert processors() == share
