"""
What the package needs of an operating system.

A function that the system cannot offer raises ``OSError``, or answers as its docstring says.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Protocol

from pytest_hookharness.model.fast_dataclass import dataclass


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
        """
        Return the wanted extended attributes and access lists of a path itself, sorted by name.

        Nothing where the file system has none.
        """
        ...

    def change_attributes(self, path: str, removed: Collection[str], changed: Mapping[str, bytes]) -> None:
        """Remove and set extended attributes of a path itself."""

    def exchange(self, one: str, other: str) -> None:
        """Exchange two files in one step."""


class Tracing(Protocol):
    """Stops processes just before certain calls, or when they execute a program and when they end."""

    ALL_TASKS: int  # flag for ``waitpid``: threads too
    # Events with which a traced task stops: it started another task; it has become another program; it is
    # about to end; it is about to make a filtered call; it was stopped by a signal.
    FORKS: tuple[int, ...]
    EXECUTED: int
    EXITING: int
    FILTERED: int
    STOPPED: int

    def memory_file(self, name: str) -> int:
        """Return a descriptor of a new file that has no path."""
        ...

    def filter_calls(self) -> None:
        """Have the kernel stop this process, and all that it becomes and starts, before calls that write."""

    def try_filter(self) -> None:
        """Test in a process of its own whether calls can be filtered here; if not, that is an ``OSError``."""

    def seize(self, pid: int) -> None:
        """Begin to trace a process, and everything that it will start."""

    def follow(self, pid: int) -> None:
        """
        Begin to trace the programs and ends of a process, and of everything that it will start.

        Raises:
            OSError: The system refuses.
        """

    def exit_status(self, pid: int) -> int:
        """Return the status, as ``waitpid`` gives it, with which a task that is about to end will end."""
        ...

    def resume(self, pid: int, number: int = 0) -> None:
        """Resume a stopped task, with a signal if there was one."""

    def keep_stopped(self, pid: int) -> None:
        """Leave a task stopped that a signal stopped, until another signal resumes it."""

    def started(self, pid: int) -> set[int]:
        """Return the task that a stopped one has just started; nothing if that is no longer known."""
        ...

    def changes(self, pid: int, paths: Collection[str]) -> bool:
        """Return whether the call before which a task stopped changes one of these files."""
        ...

    def relatives(self, task: int) -> list[int]:
        """List the process that a task belongs to and the parent of that process."""
        ...

    def program(self, pid: int) -> tuple[list[str], dict[str, str], str]:
        """
        Return the argument vector, the environment and the working folder of a process.

        Raises:
            OSError: It is gone.
        """
        ...

    def written(self, pid: int) -> int | None:
        """Return how many bytes a process itself has written; ``None`` if that is unknown."""
        ...

    def sleeps(self, task: int) -> bool:
        """Return whether a task sleeps, or is gone."""
        ...


@dataclass(slots=True)
class TouchedPaths:
    """
    What happened to watched files since the last look.

    Attributes:
        paths: Paths that were written, made, removed, renamed or got another mode.
        folders: Those of them whose content may differ, so that it must be listed anew.
        opened: Single files that were opened, moved or removed.
        removed: Paths that were removed, which may have been names of a file that has others.
        written: How often each file was written or moved into place. Seldom too low: the system merges two
            equal events that follow each other directly.
        lost: The system could not keep up; anything may have been touched.
    """

    paths: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)
    written: dict[str, int] = field(default_factory=dict)
    lost: bool = False

    def add(self, later: TouchedPaths) -> None:
        """Add what happened afterwards."""
        # Mostly, nothing happened.
        if later.paths:
            self.paths |= later.paths
            self.folders |= later.folders
            self.removed |= later.removed
            for path, times in later.written.items():
                self.written[path] = self.written.get(path, 0) + times
        self.opened |= later.opened
        self.lost = self.lost or later.lost


class Watch(Protocol):
    """A watch on folders for writes, and on single files for being opened."""

    def add_folder(self, path: str) -> None:
        """
        Watch a folder, but not the folders in it.

        Raises:
            OSError: It is not a folder, or the system has no more watches.
        """

    def add_file(self, path: str) -> bool:
        """Watch a file for being opened; false if it does not exist. A watched file stays watched."""
        ...

    def forget_below(self, path: str) -> None:
        """End the watches on a folder and on everything below it."""

    def follow(self, before: str, after: str) -> None:
        """Take note that a folder with everything below it was moved."""

    def look(self) -> TouchedPaths:
        """Return what happened since the last look."""
        ...

    def forget_all(self) -> None:
        """End the watches on everything; the object can be used for something else."""

    def close(self) -> None:
        """End all watches."""


class WatchPool(Protocol):
    """Watches, for one user after the other."""

    def take(self) -> Watch:
        """Return a watch on nothing yet."""
        ...

    def give_back(self, watch: Watch) -> None:
        """Keep a watch for the next user."""

    def close(self) -> None:
        """Close the watches that nobody uses."""
