"""CPU slots: the waits of hooks overlap while their work does not, and one supervisor serves many threads."""

from __future__ import annotations

import select
import socket
import subprocess
import threading
from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.execution.processes import framing, process_tree
from pytest_hookharness.execution.processes.batch import Load
from pytest_hookharness.execution.processes.framing import WAITS
from pytest_hookharness.execution.processes.sandbox import Supervisor
from pytest_hookharness.execution.processes.slots import CpuSlot, CpuSlots, NoFreeSlot
from pytest_hookharness.execution.processes.translation import Confinement
from pytest_hookharness.execution.reads.tracer import Tracer
from pytest_hookharness.model.processes import Exited, ProcessResult

from .toys import STAY, eventually, launch, staying

BUSY = "end=$(($(date +%s%N) + {} * 1000000)); while [ $(date +%s%N) -lt $end ]; do :; done"


@pytest.fixture
def slots() -> Iterator[CpuSlots]:
    """A machine with one CPU slot."""
    made = CpuSlots(1)
    yield made
    made.close()


def play(supervisor: Supervisor, slot: CpuSlot, command: str) -> ProcessResult:
    """Run a shell command as a simulation with this slot does, and leave the slot afterwards."""
    try:
        with supervisor.open(Confinement(), slot) as sandbox:
            return sandbox.run([launch("sh", "-c", command)])[0]
    finally:
        slot.leave()


@contextmanager
def threads(slots: CpuSlots) -> Generator[ThreadPoolExecutor]:
    """Threads that are interrupted at the end, whatever they wait for, so that a failed test ends."""
    with ThreadPoolExecutor() as pool:
        try:
            yield pool
        finally:
            slots.stop()


def await_resumer(slots: CpuSlots) -> None:
    """Wait until a simulation that had a slot waits for one again."""
    for _ in range(1000):
        if slots._resuming:
            return
        select.select([], [], [], 0.01)
    pytest.fail("nobody waits for a slot")


def taken(slots: CpuSlots) -> CpuSlot:
    """A slot that is taken."""
    slot = slots.slot()
    slot.take()
    return slot


def state(pid: int) -> str:
    """The state of a process in the process table; empty if it is gone."""
    row = system.row(pid)
    return row.state if row is not None else ""


def test_simulations_under_way_come_first(slots: CpuSlots) -> None:
    """A simulation that has begun gets a slot before all that have not, even if they waited longer."""
    under_way = taken(slots)
    under_way.leave()
    working = taken(slots)
    with threads(slots) as pool:
        beginning = pool.submit(slots.slot().take)
        resuming = pool.submit(under_way.take)
        await_resumer(slots)
        working.leave()

        resuming.result(10)
        assert not beginning.done()
        under_way.leave()
        beginning.result(10)


def test_no_free_slot_is_forgotten() -> None:
    """Slots that are given back at the same time are all taken, by whatever kind of simulation waits."""
    slots = CpuSlots(2)
    under_way = taken(slots)
    under_way.leave()
    working = [taken(slots), taken(slots)]
    with threads(slots) as pool:
        waiting = [pool.submit(under_way.take), pool.submit(slots.slot().take)]
        await_resumer(slots)
        for slot in working:
            slot.leave()
        for each in waiting:
            each.result(10)
    slots.close()


def test_waits_overlap(supervisor: Supervisor, slots: CpuSlots) -> None:
    """A second hook can begin while the first one waits, although both share one slot."""
    with threads(slots) as pool:
        first = pool.submit(play, supervisor, taken(slots), "exec sleep 3600")
        second = pool.submit(play, supervisor, taken(slots), "exec sleep 3600")
        assert not first.done()
        assert not second.done()
        slots.stop()


@pytest.mark.slow
def test_work_does_not_overlap(supervisor: Supervisor, slots: CpuSlots, tmp_path: Path) -> None:
    """A hook that works keeps its slot until it ends."""
    end = tmp_path / "end"
    with threads(slots) as pool:
        running = pool.submit(play, supervisor, taken(slots), f"{BUSY.format(300)}; touch {end}; exit 3")
        taken(slots)

        # It leaves its slot only on the way out of the sandbox.
        worked = end.exists()
        assert running.result(10).ending == Exited(3)
        assert worked


@pytest.mark.parametrize("later", [False, True])
def test_a_process_that_starts_during_a_look_works(monkeypatch: pytest.MonkeyPatch, later: bool) -> None:
    """A process that started after the first list was made counts as working."""
    with (
        subprocess.Popen(["sleep", "3600"]) as waiting,
        subprocess.Popen(["sh", "-c", "while :; do :; done"]) as working,
    ):
        try:
            eventually(lambda: state(waiting.pid) == "S", "it sleeps")
            lists = iter([[waiting.pid], [waiting.pid, working.pid] if later else [waiting.pid]])
            monkeypatch.setattr(process_tree, "descendants", lambda _: next(lists))
            load = Load(0.0, Tracer(), wanted=True)

            # Over so long a time, their CPU time is negligible.
            assert load.look(1e6) == (None if later else WAITS)
        finally:
            waiting.kill()
            working.kill()


@pytest.mark.slow
def test_work_after_a_wait_finds_no_free_slot(supervisor: Supervisor, slots: CpuSlots) -> None:
    """A hook that works again while another simulation has its slot is interrupted with NoFreeSlot."""
    with threads(slots) as pool:
        running = pool.submit(play, supervisor, taken(slots), f"sleep 0.3; {BUSY.format(5000)}")
        taken(slots)
        with pytest.raises(NoFreeSlot):
            running.result(10)


class LostSlot(CpuSlot):
    """A slot that another simulation takes while a hook waits."""

    shared = True

    def resume(self) -> None:
        """Fail: no slot is free."""
        raise NoFreeSlot


@pytest.mark.slow
def test_without_a_free_slot_the_hook_is_ended_first(supervisor: Supervisor) -> None:
    """When NoFreeSlot is raised, the hook has ended, so it cannot change files that are restored next."""
    with supervisor.open(Confinement(), LostSlot()) as sandbox:
        with pytest.raises(NoFreeSlot):
            sandbox.run([launch("sh", "-c", f"sleep {STAY} & sleep 0.3; {BUSY.format(60_000)}")])
        assert staying() == []


@pytest.mark.slow
def test_work_after_a_wait_finds_its_slot(supervisor: Supervisor, slots: CpuSlots) -> None:
    """A hook that works again while its slot is still free gets it back at once."""
    run = play(supervisor, taken(slots), f"sleep 0.2; {BUSY.format(200)}")

    assert run.ending == Exited(0)


def test_a_stop_reaches_all(supervisor: Supervisor, slots: CpuSlots) -> None:
    """A stop interrupts every thread that waits for a hook or for a slot."""
    with threads(slots) as pool:
        hanging = pool.submit(play, supervisor, taken(slots), "exec sleep 3600")
        taken(slots)
        waiting = pool.submit(taken, slots)
        slots.stop()

        for future in (hanging, waiting):
            assert isinstance(future.exception(10), KeyboardInterrupt)


def test_the_clock_stands_still_while_a_slot_is_waited_for(slots: CpuSlots) -> None:
    """The time a simulation waits for other simulations is not its own."""
    other, slot = taken(slots), slots.slot()
    before = slot.clock()
    threading.Timer(0.1, other.leave).start()
    slot.take()

    assert slot.waited >= 0.05
    assert slot.clock() - before < 0.05


@pytest.mark.slow
def test_many_threads_have_one_supervisor(
    own_supervisor: Supervisor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that all come first start one supervisor, and each gets the answers of its own hooks."""
    together = threading.Barrier(8)
    pair = socket.socketpair
    # Threads may be interrupted by each other while the supervisor is started.
    monkeypatch.setattr(socket, "socketpair", lambda: (threading.Event().wait(0.01), pair())[1])

    def ask(number: int) -> tuple[int | None, list[bytes]]:
        together.wait()
        with own_supervisor.open(Confinement()) as sandbox:
            pid = own_supervisor.pid
            return pid, [sandbox.run([launch("echo", str(number))])[0].stdout.data for _ in range(5)]

    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(ask, range(8)))

    assert [said for _, said in answers] == [[f"{number}\n".encode()] * 5 for number in range(8)]
    assert len({pid for pid, _ in answers}) == 1


def test_values_that_come_together_are_read_one_by_one() -> None:
    """Reading the first of two values that wait in a socket leaves the second in place."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for value in ("first", b"x" * 100_000, "third"):
            framing.send(theirs, value)

        assert [framing.receive(ours) for _ in range(3)] == ["first", b"x" * 100_000, "third"]


def test_planned_work_is_done_once_while_a_process_runs(supervisor: Supervisor, tmp_path: Path) -> None:
    """A process that waits for what the planned work makes ends, and the next process finds no work done."""
    slot, made = CpuSlot(), tmp_path / "made"
    slot.plan(made.touch)
    waits = play(supervisor, slot, f"until [ -e {made} ]; do :; done")
    assert waits.ending == Exited(0)
    made.unlink()
    looks = play(supervisor, slot, f"[ ! -e {made} ]")
    assert looks.ending == Exited(0)
