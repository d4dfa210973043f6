"""
Seats: how many simulations may work at once where more of them are under way.

Waits cost the machine nothing and may all overlap; work shares its processors, and
hooks that are slowed down by it would meet limits that they do not meet alone.

Load: whether what was fired works or only waits.

Runs inside the keepers.
"""

from __future__ import annotations

import os
import select
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager


class NoFreeSlot(Exception):
    """
    A fire began to work again while all seats were taken, so what is seen is not what it would do alone.
    """


def processors() -> int:
    """
    How many processors we may use; a worker of pytest-xdist has its share of them.
    """
    usable = getattr(os, "sched_getaffinity", None)
    number = len(usable(0)) if usable is not None else os.cpu_count() or 1
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return max(1, number // int(workers)) if workers.isdecimal() and int(workers) else number


class CpuSlot:
    """
    The place of a simulation that shares the machine with no other of ours: it always has it.

    Attributes:
        shared: Whether others want it too.
        waited: Seconds for which it was waited for.
    """

    shared = False

    def __init__(self) -> None:
        self.waited = 0.0

    def take(self) -> None:
        """
        Wait until there is a place, and have it.
        """

    def leave(self) -> None:
        """
        Let somebody else have the place.
        """

    def resume(self) -> None:
        """
        Have the place back at once, because a fire works again.

        Raises:
            Crowded: There is none left.
        """

    def wait_readable(self, peer: socket.socket) -> None:
        """
        Wait until there is something to read.

        Raises:
            KeyboardInterrupt: Everybody was told to stop.
            TimeoutError: Nothing came within the time that the socket is given.
        """

    @contextmanager
    def released(self) -> Generator[None]:
        """
        Have no place for the time of a block that only waits.
        """
        self.leave()
        yield
        self.take()

    def clock(self) -> float:
        """
        Seconds on a clock that stands still while the place is waited for.
        """
        return time.monotonic() - self.waited


class CpuSlots:
    """
    The places of one machine.
    """

    def __init__(self, number: int) -> None:
        self._free = number
        self._changed = threading.Condition()
        self._closed = False
        # The end of the pipe is seen by all who wait for an answer of a keeper.
        self.bell, self._bell_end = os.pipe()

    def slot(self) -> CpuSlot:
        """
        A place for one more simulation, which has yet to be taken.
        """
        return _SharedSlot(self)

    def wait_for_one(self) -> None:
        """
        Take a place as soon as there is one.

        Raises:
            KeyboardInterrupt: Everybody was told to stop.
        """
        with self._changed:
            self._changed.wait_for(lambda: self._free > 0 or self._closed)
            if self._closed:
                raise KeyboardInterrupt
            self._free -= 1

    def take_one(self) -> bool:
        """
        Take a place if there is one.
        """
        with self._changed:
            taken = self._free > 0
            self._free -= taken
            return taken

    def give_back(self) -> None:
        """
        Let the next have a place.
        """
        with self._changed:
            self._free += 1
            self._changed.notify()

    def stop(self) -> None:
        """
        Tell everybody to stop: whoever waits, or next wants to, is interrupted.
        """
        with self._changed:
            if self._closed:
                return
            self._closed = True
            self._changed.notify_all()
        os.close(self._bell_end)

    def close(self) -> None:
        """
        Stop; nobody may sit here any more.
        """
        self.stop()
        os.close(self.bell)


class _SharedSlot(CpuSlot):
    """
    A place that others want too.
    """

    shared = True

    def __init__(self, slots: CpuSlots) -> None:
        super().__init__()
        self._slots = slots
        self._taken = False

    def take(self) -> None:
        """
        Wait until there is a place, and have it.
        """
        if self._taken:
            return
        began = time.monotonic()
        self._slots.wait_for_one()
        self._taken = True
        self.waited += time.monotonic() - began

    def leave(self) -> None:
        """
        Let somebody else have the place.
        """
        if self._taken:
            self._taken = False
            self._slots.give_back()

    def resume(self) -> None:
        """
        Have the place back at once, because a fire works again.
        """
        if not self._taken and not self._slots.take_one():
            raise NoFreeSlot
        self._taken = True

    def wait_readable(self, peer: socket.socket) -> None:
        """
        Wait until there is something to read.
        """
        poll = select.poll()
        poll.register(peer, select.POLLIN)
        poll.register(self._slots.bell, select.POLLIN)
        timeout = peer.gettimeout()
        ready = {descriptor for descriptor, _ in poll.poll(None if timeout is None else timeout * 1000)}
        if self._slots.bell in ready:
            raise KeyboardInterrupt
        if not ready:
            raise TimeoutError
