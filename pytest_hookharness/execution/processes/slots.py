"""
CPU slots: how many simulations may work at the same time.

Simulations that only wait cost the machine nothing and may all overlap. Simulations that work share its CPUs,
and a hook that is slowed down by others could meet a limit that it does not meet alone.
"""

from __future__ import annotations

import os
import select
import shutil
import socket
import statistics
import threading
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

# Runs of a program whose slowdown is measured.
_SAMPLES = 3


class NoFreeSlot(Exception):
    """A hook began to work again while all CPU slots were taken, so it does not run as it would alone."""


def processors() -> int:
    """Return how many CPUs we may use; a worker of pytest-xdist has its share of them."""
    usable = getattr(os, "sched_getaffinity", None)
    number = len(usable(0)) if usable is not None else os.cpu_count() or 1
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return max(1, number // int(workers)) if workers.isdecimal() and int(workers) else number


def competition() -> float:
    """Return how many processes want each CPU of this machine, over the last minute; at least 1."""
    load = getattr(os, "getloadavg", None)
    return max(1.0, load()[0] / (os.cpu_count() or 1)) if load is not None else 1.0


def slowdown(program: Sequence[str]) -> float:
    """Return how many times longer a program takes now than it works, the median of three; at least 1."""
    nothing = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in range(3)]
    ratios = [1.0]
    for _ in range(_SAMPLES if shutil.which(program[0]) else 0):
        began = time.monotonic()
        pid = os.posix_spawnp(program[0], [*program], os.environ, file_actions=nothing)
        used = os.wait4(pid, 0)[2]
        took, worked = time.monotonic() - began, used.ru_utime + used.ru_stime
        ratios.append(took / worked if worked else 1.0)
    return max(1.0, statistics.median(ratios[1:] or ratios))


class CpuSlot:
    """
    The slot of a simulation that runs alone: it always has the CPU.

    Attributes:
        shared: Whether it is left to other simulations while the hooks wait.
        waited: Seconds spent waiting for the slot.
    """

    shared = False

    def __init__(self) -> None:
        self.waited = 0.0
        self._meanwhile: Callable[[], None] | None = None

    def plan(self, work: Callable[[], None]) -> None:
        """Plan work for the next time that hooks run; it must not raise, or be noticed by a hook."""
        self._meanwhile = work

    def work(self) -> None:
        """Do the planned work, if there is any."""
        work, self._meanwhile = self._meanwhile, None
        if work is not None:
            work()

    def take(self) -> None:
        """Wait until the slot is free, and take it."""

    def leave(self) -> None:
        """Give the slot to another simulation."""

    def resume(self) -> None:
        """Take a slot again at once, because a hook works again; raise `NoFreeSlot` if none is free."""

    def wait_readable(self, peer: socket.socket) -> None:
        """
        Wait until there is something to read.

        Raises:
            KeyboardInterrupt: All simulations are to stop.
            TimeoutError: Nothing came within the time that the socket is given.
        """

    @contextmanager
    def released(self) -> Generator[None]:
        """Leave the slot for the time of a block that only waits."""
        self.leave()
        yield
        self.take()

    def clock(self) -> float:
        """Return the seconds of a clock that stands still while the slot is waited for."""
        return time.monotonic() - self.waited


class CpuSlots:
    """The CPU slots of one machine."""

    def __init__(self, number: int) -> None:
        self._free = number
        self._lock = threading.Lock()
        # Those who wait: simulations that are under way, and simulations that have not begun.
        self._resumers, self._beginners = threading.Condition(self._lock), threading.Condition(self._lock)
        self._resuming = 0
        self._closed = False
        # All who wait for an answer of an item supervisor also wait for the end of this pipe.
        self.bell, self._bell_end = os.pipe()

    def slot(self, *, kept: bool = False) -> CpuSlot:
        """
        Return a slot for one more simulation, which has yet to be taken.

        A slot that is ``kept`` is not left while hooks wait, so no hook can find it taken.
        """
        return _SharedSlot(self, kept=kept)

    def wait_for_one(self, *, again: bool) -> None:
        """
        Take a slot as soon as there is one.

        A simulation that had one before (``again``) is preferred, because time passes for its hooks.

        Raises:
            KeyboardInterrupt: All simulations are to stop.
        """
        with self._lock:
            if again:
                self._resuming += 1
                self._resumers.wait_for(lambda: self._free > 0 or self._closed)
                self._resuming -= 1
            else:
                self._beginners.wait_for(lambda: self._free > self._resuming or self._closed)
            if self._closed:
                raise KeyboardInterrupt
            self._free -= 1
            if self._free > 0:
                # The last one who gave back a slot may have notified nobody but this thread.
                self._notify()

    def _notify(self) -> None:
        (self._resumers if self._resuming else self._beginners).notify()

    def take_one(self) -> bool:
        """Take a slot if there is one; return whether there was."""
        with self._lock:
            taken = self._free > 0
            self._free -= taken
            return taken

    def give_back(self) -> None:
        """Give a slot back."""
        with self._lock:
            self._free += 1
            self._notify()

    def stop(self) -> None:
        """Interrupt everyone who waits for a slot now or later."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._resumers.notify_all()
            self._beginners.notify_all()
        os.close(self._bell_end)

    def close(self) -> None:
        """Stop; no slot may be used any more."""
        self.stop()
        os.close(self.bell)


class _SharedSlot(CpuSlot):
    """A slot that other simulations want too."""

    def __init__(self, slots: CpuSlots, *, kept: bool) -> None:
        super().__init__()
        self.shared = not kept
        self._slots = slots
        self._taken = self._begun = False

    def take(self) -> None:
        if self._taken:
            return
        began = time.monotonic()
        self._slots.wait_for_one(again=self._begun)
        self._taken = self._begun = True
        self.waited += time.monotonic() - began

    def leave(self) -> None:
        if self._taken:
            self._taken = False
            self._slots.give_back()

    def resume(self) -> None:
        if not self._taken and not self._slots.take_one():
            raise NoFreeSlot
        self._taken = True

    def wait_readable(self, peer: socket.socket) -> None:
        poll = select.poll()
        poll.register(peer, select.POLLIN)
        poll.register(self._slots.bell, select.POLLIN)
        timeout = peer.gettimeout()
        ready = {descriptor for descriptor, _ in poll.poll(None if timeout is None else timeout * 1000)}
        if self._slots.bell in ready:
            raise KeyboardInterrupt
        if not ready:
            raise TimeoutError
