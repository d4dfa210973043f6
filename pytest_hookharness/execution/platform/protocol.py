"""
What the package needs of every operating system.

A function that the system cannot offer raises ``OSError``, or answers as its docstring says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Protocol


class ProcessRow(Protocol):
    """
    One process, as the process table shows it.

    Attributes:
        state: As ``ps`` prints it: ``R`` runs, ``S`` sleeps, ``D`` waits for a device, ``Z`` is dead.
        parent: Number of its parent.
        group, session: Numbers of its process group and its session.
        cpu_time: Seconds of CPU time, with those of the children that it has waited for.
        started: Its start, in seconds since the machine started.
    """

    pid: int
    state: str
    parent: int
    group: int
    session: int
    cpu_time: float
    started: float


class Processes(Protocol):
    """The process table. A process may end at any time, so functions answer "gone" instead of failing."""

    TICK: float  # seconds: the resolution of the table's times
    MEMORY_UNIT: int  # bytes: the unit in which the system tells the most memory that a process had

    def row(self, pid: int) -> ProcessRow | None:
        """Look up one process; ``None`` if it is gone."""

    def all_rows(self) -> Sequence[ProcessRow]:
        """List all processes that can be seen."""
        ...

    def cpu_and_wait(self, pid: int) -> tuple[float, float]:
        """Return the seconds for which the threads of a process had a CPU, and were kept waiting for one."""
        ...

    def children(self, pid: int) -> list[int]:
        """List the children of a process."""
        ...

    def command_line(self, pid: int) -> str:
        """Return the command line of a process, cut to a bounded length."""
        ...

    def name(self, pid: int) -> str:
        """Return the short name of a process; empty if it is gone."""
        ...

    def has_marks(self) -> bool:
        """Return whether the system has marks."""
        ...

    def own_mark(self) -> int:
        """Return the mark of this process; 0 if it has none, or if the system has no marks."""
        ...

    def mark_children(self, mark: int) -> None:
        """
        Give this process a mark, or none with 0: a number that all processes inherit that it starts then.

        A mark outlives a cleared environment, a new session and a lost parent. Nothing happens where the
        system has no marks.
        """

    def mark(self, pid: int) -> int:
        """Return the mark of a process; 0 if it has none, or if that is unknown."""
        ...

    def environment(self, pid: int) -> frozenset[bytes]:
        """Return the entries of the environment with which a process was started; none if unknown."""
        ...

    def boot_clock(self) -> float:
        """Return the seconds since the machine started, on the clock of `ProcessRow.started`."""
        ...

    def open_files(self, pid: int) -> Iterator[str]:
        """Yield the names of the files that a process has open, as `link` gives them."""
        ...

    def link(self, pid: int, descriptor: int | str) -> str:
        """
        Return the name of the file behind a descriptor of a process; empty if it is unknown.

        Both ends of a pipe have the same name. Once the end is closed that is read from, another pipe may get
        it, and once a socket is closed, another socket may.
        """
        ...

    def stream_name(self, descriptor: int, *, socket: bool) -> str:
        """Return the name that `link` gives to a pipe or a socket of this process; empty if it has none."""
        ...

    def blocked_call(self, pid: int, state: str) -> tuple[str, int | None]:
        """
        Return the system call in which a process is blocked, with its first argument.

        Where the call is unknown: the function of the kernel (empty if that is unknown too) and ``None``.
        """
        ...

    def polled_files(self, pid: int, descriptor: int) -> list[int]:
        """List the descriptors that an event loop waits for, by the descriptor of the loop itself."""
        ...


class Spawning(Protocol):
    """What ties a process to its parent, and what a generated shell script can learn of its own streams."""

    SHELL_STDIN: str  # the path by which a shell reaches its own standard input
    # Text of a shell function ``has_own_stdin``: whether standard input was made for this script and not
    # inherited. Empty where that cannot be learnt.
    SHELL_HAS_OWN_STDIN: str
    # Whether the interpreter's own function that starts a program returns only when it runs, or cannot run.
    FORK_WAITS_FOR_PROGRAM: bool

    def become_subreaper(self) -> None:
        """Make every orphaned descendant a child of this process."""

    def die_with_parent(self) -> None:
        """Have the kernel kill this process when its parent ends."""

    def allow_dumps(self, allowed: bool) -> None:
        """
        Decide whether other processes of the user may read and write the memory of this one.

        A program that it starts may be read and written again. Nothing happens where the system cannot.
        """

    def open_process(self, pid: int) -> int:
        """Return a descriptor that becomes readable when a process ends; -1 if the system has none."""
        ...


class Files(Protocol):
    """Times, attributes and kinds of files."""

    # Whether `file_clock` works. Without it the clock of hooks cannot be moved, for file times must follow.
    SHIFTS_TIME: bool

    def file_clock(self) -> int:
        """Return the time, in nanoseconds, of the clock by which the kernel stamps files."""
        ...

    def is_kernel_folder(self, path: str) -> bool:
        """Return whether the files of a folder stand for the kernel's own state, and change with it."""
        ...

    def devices(self) -> tuple[str, ...]:
        """List the devices that programs need and that change nothing on the machine."""
        ...

    def copy_file(self, source: str, target: str) -> None:
        """Copy a regular file with its times, mode and attributes, without its blocks where that works."""

    def is_of_a_program(self, name: str) -> bool:
        """Return whether programs and people set an attribute, and not the system itself."""
        ...

    def read_attributes(self, path: str, wanted: Callable[[str], bool]) -> dict[str, bytes]:
        """Return the wanted attributes and access lists of a path itself, sorted; none if it has none."""
        ...

    def change_attributes(self, path: str, removed: Collection[str], changed: Mapping[str, bytes]) -> None:
        """Remove and set extended attributes of a path itself."""

    def exchange(self, one: str, other: str) -> None:
        """Exchange two files in one step."""


class System(Processes, Spawning, Files, Protocol):
    """All that the module for one system implements."""
