"""
Crews: jobs of one simulation that are done side by side, as seats become free.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias, TypeVar

from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot, CpuSlots, NoFreeSlot, processors
from pytest_hookharness.model.processes import Tier
from pytest_hookharness.model.scenario import Scenario

T = TypeVar("T")
# What is done, given the seat that it has and the folder below which it writes everything.
Job: TypeAlias = Callable[[CpuSlot, Path], T]
# Threads; those that wait for a seat cost nothing but memory.
_MOST = 32


def stays_apart(scenario: Scenario, tier: Tier | None, supervisor: Supervisor) -> bool:
    """
    Whether simulations of a scenario share nothing by which one could change what another sees.
    """
    private = tier in (None, Tier.NAMESPACES) and not supervisor.tiers()[Tier.NAMESPACES]
    return private and not scenario.cover and not scenario.network


def work(jobs: Sequence[Job[T]], base: Path) -> Generator[tuple[int, T]]:
    """
    Do jobs side by side, and give what came of each, with its place, as soon as it is there.

    What was crowded out is done once more at the end, alone.

    Args:
        jobs: What is to be done; the first is the first to have a seat.
        base: The folder below which each has one of its own.

    Raises:
        KeyboardInterrupt: Ctrl-C; all others are ended as well.
        Exception: Whatever a job itself raised.
    """
    seats, crowded = CpuSlots(processors()), []
    pool = ThreadPoolExecutor(min(_MOST, max(1, len(jobs))), "hook-crew")
    try:
        begun = {
            pool.submit(_do, job, seats.slot(), base / str(place)): place for place, job in enumerate(jobs)
        }
        for future in as_completed(begun):
            try:
                result = future.result()
            except NoFreeSlot:
                crowded.append(begun[future])
                continue
            yield begun[future], result
    finally:
        seats.stop()
        pool.shutdown(cancel_futures=True)
        seats.close()
    for place in crowded:
        yield place, _do(jobs[place], CpuSlot(), base / str(place))


def _do(job: Job[T], slot: CpuSlot, base: Path) -> T:
    try:
        slot.take()
        return job(slot, base)
    finally:
        slot.leave()
        _put_away(base)


def _put_away(base: Path) -> None:
    # It holds what is kept, or was never made.
    with suppress(OSError):
        base.rmdir()
