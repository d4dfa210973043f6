"""What the package needs of an operating system to record what processes look at, and how long they wait."""

from __future__ import annotations

import os
from collections.abc import Callable, Container, Iterator, Sequence
from typing import Protocol, TypeAlias

# What a call looks at: the kind of this entry, how it looks, a text, and whether a link at the end of a path
# is followed. The kinds and their texts:
# ``path``, ``open``, ``name``, ``socket``: an absolute path that is not resolved. How it is opened: r, w, and
# a for append, c for create, t for truncate, x for exclusive. What becomes of a name: ``made``, ``gone``,
# ``moved`` onto it, ``linked``.
# ``file``: the resolved path of an open file; the last entry says that it is not what a program prints to.
# ``source``: something else than a file, after its kind.
# ``processors``: on which processors processes run, which is no source.
# ``trouble``: nothing; how says why the call cannot be recorded.
Seen: TypeAlias = tuple[str, str, str, bool]


class Waits(Protocol):
    """What shows when a blocked process goes on by itself."""

    def sleeps_until(self, pid: int) -> float:
        """
        Return when the timer ends by which a process sleeps, in seconds of ``boot_clock``; 0 if unknown.

        Where the sleep began at an unknown moment, the start of the process stands for this moment.
        """
        ...

    def may_go_on(self, pid: int) -> bool:
        """Return whether an alarm or another thread may let a process go on although it is blocked."""
        ...

    def opens_fifo(self, pid: int) -> bool:
        """Return whether a process that opens a file waits for the other end of a FIFO."""
        ...


class Observing(Protocol):
    """Stops processes before they look at anything, and reads what they ask."""

    def observe(self, pid: int) -> None:
        """
        Begin to observe a process, and everything that it will start.

        Raises:
            OSError: The system refuses, or its calls are unknown.
        """

    def share_processor(self) -> set[int]:
        """
        Keep this process, and those that it starts, on the processor where it runs now.

        Returns:
            The processors that it could use before; nothing if it stays as it was.
        """
        ...

    def use_processors(self, task: int, processors: set[int]) -> None:
        """Let a task, and what it has just started, use some processors again; 0: this process."""

    def attend(self, take: Callable[[], bool]) -> None:
        """
        Handle stops as they come, sooner than by a handler of their signals, for some milliseconds at most.

        Args:
            take: Handles all tasks that have stopped; returns whether to wait for more of them.
        """

    def stop_of(self, status: int) -> tuple[str, int]:
        """
        Return why a task stopped, and the signal if one is to be delivered.

        The reason is ``call``, ``result``, ``program`` (it has become another one), ``started`` (it has
        started another task), ``stopped`` (by a signal, until another one), ``signal``, or empty.
        """
        ...

    def resume_to_result(self, task: int) -> None:
        """Resume a task that stopped before a call; it stops again with the result."""

    def succeeded(self, task: int) -> bool:
        """Return whether the call whose result stopped a task has succeeded."""
        ...

    def begin_program(self, task: int, lets: Callable[[str], bool]) -> tuple[str, bytes, str, bool]:
        """
        Prepare a task that has just become another program, so that it reads the clock by calls.

        Args:
            task: The task.
            lets: Whether a program of this path may read the monotonic clock without a stop.

        Returns:
            The path of the program, its arguments, why it cannot be recorded, empty if it can, and whether it
            reads the monotonic clock without a stop.

        Raises:
            PermissionError: The system does not allow it.
        """
        ...


class Resolver(Protocol):
    """Resolves the paths that stopped processes name, and remembers folders until a name changes."""

    def forget(self) -> None:
        """Forget all folders, for a name has changed."""

    def own_entry(self, path: str, pid: int) -> str:
        """Return a path with the number of a process replaced by the word for oneself."""
        ...

    def resolve(
        self, path: str, pid: int, *, follow: bool
    ) -> tuple[str, Sequence[str], os.stat_result | None]:
        """
        Return the resolved path, the links that lead there, and what is there; ``None`` if there is nothing.

        Args:
            path: An absolute path.
            pid: The process that names it.
            follow: Whether a link at its end is followed.
        """
        ...


class ReadCalls(Protocol):
    """The calls by which programs look at the world."""

    def filter_reads(self) -> None:
        """
        Have the kernel stop this process, and all that it becomes and starts, before each call that looks.

        Raises:
            OSError: The kernel refuses.
        """

    def decode(self, task: int) -> Sequence[Seen]:
        """
        Return what the call before which a task stopped looks at.

        Raises:
            PermissionError: The system does not allow to read what the task asks.
        """
        ...

    def source_of(self, path: str) -> tuple[str, str] | None:
        """Return the kind of source that a path stands for, and its name; nothing for a common file."""

    def shows_processors(self, seen: Seen) -> bool:
        """Return whether a call may tell which processors a process may use."""
        ...

    def is_of_system(self, path: str) -> bool:
        """Return whether a path belongs to the system, so that it is no script of a hook."""
        ...

    def is_constant(self, path: str) -> bool:
        """Return whether nothing can be learnt from looking at a path."""
        ...


class ClockCalls(Protocol):
    """
    The calls by which programs learn the time, and the times of files.

    Attributes:
        CHOSEN: What a call shows that gives a file its times.
    """

    CHOSEN: str

    def filter_times(self) -> None:
        """
        Have the kernel stop this process, and all that it becomes and starts, before each such call.

        Raises:
            OSError: The kernel refuses.
        """

    def asked(self, task: int, since: int) -> tuple[str, int, str, str]:
        """
        Return the call before which a task stopped, where its answer will be, what that shows, and the file.

        It shows ``realtime``, ``times of a file`` or ``times of an open file``; ``another root``, and is no
        call, if paths may lead elsewhere from now on; nothing if all times of the file are before ``since``.
        A call that chooses the times of a file is none either: it shows ``CHOSEN``, and its name is the file.

        Raises:
            ValueError: It is a call of another architecture.
        """
        ...

    def find(self, task: int, written: bytes) -> str:
        """Return where this process finds the file that a task names; empty if it finds another one there."""
        ...

    def path_of(self, place: str) -> str:
        """Return the path of a file that was found."""
        ...

    def chosen_times(self, task: int, name: str, address: int) -> Iterator[int]:
        """Yield the times, in nanoseconds, that a program gives a file by a call, which has their address."""
        ...

    def shown_time(
        self, at: int, now: int, shifts: Sequence[tuple[int, float]], chosen: Container[int] = ()
    ) -> int:
        """
        Return the time, by a moved clock, that a time of a file stands for; both in nanoseconds.

        Args:
            at: The file's own time. One after the present was chosen by a program, by the moved clock.
            now: The present by the machine's clock.
            shifts: Since when, by the machine's clock, the other one is by how many seconds ahead.
            chosen: Times that programs chose before the present.
        """
        ...

    def move(
        self,
        task: int,
        name: str,
        address: int,
        shifts: Sequence[tuple[int, float]],
        chosen: Container[int] = (),
    ) -> tuple[int, bool]:
        """
        Move the times in the answer to a call ahead.

        Returns:
            Of the status of a file or folder when that was last changed, in nanoseconds, else 0; and whether
            it is the working folder of the task.

        Args:
            task: The task, which stopped with the result.
            name: The call.
            address: Where its answer is.
            shifts: As those of `shown_time`; the last one holds now.
            chosen: As those of `shown_time`.
        """
        ...
