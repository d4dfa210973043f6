"""
Reads: what a hook run looked at, as the kernel saw it.

A record names what could have decided how a hook run went. It does not say what was done with it.
"""

from __future__ import annotations

import enum
import re

from pytest_hookharness.model.fast_dataclass import dataclass

# With these words a script may ask for the status of what is open, such as its standard input.
OPEN_FILE_WORDS = frozenset(["fstat", "fileno", "stat(0", "stat(1", "stat(2"])


class LookKind(enum.Enum):
    """
    How a program looked at a path.

    ``OPENED`` is an open for reading, ``EXECUTED`` the start of a program, also one that failed. ``STATUS``
    asks by path for type, size, times and blocks; ``OPEN_STATUS`` does so for an open file, as most programs
    do with every file that they read. ``ACCESS`` asks whether something exists and may be used. ``LINK``
    reads a symbolic link, also one that a path leads through; ``LISTED`` a folder; ``ATTRIBUTE`` extended
    attributes; ``FILE_SYSTEM`` the free space. ``NAMED`` stands for calls that change a name or its status,
    such as mkdir, rename and unlink: whether they succeed tells whether it existed.
    """

    # By identity, which is faster: records of hook runs are sets of looks.
    __hash__ = object.__hash__

    OPENED = "opened"
    EXECUTED = "executed"
    STATUS = "status"
    OPEN_STATUS = "open status"
    ACCESS = "access"
    LINK = "link"
    LISTED = "listed"
    ATTRIBUTE = "attribute"
    FILE_SYSTEM = "file system"
    NAMED = "named"


class SourceKind(enum.Enum):
    """Sources besides files from which a hook run can learn something."""

    RANDOM = "random"
    CLOCK = "clock"
    SOCKET = "socket"
    SHARED_MEMORY = "shared memory"
    PROCESS = "process"
    DEVICE = "device"
    MACHINE = "machine"


@dataclass(frozen=True, slots=True)
class PathLook:
    """
    A path that was looked at.

    Attributes:
        path: Absolute, with all links resolved that the look followed. The own entry of a process in the
            process table is ``/proc/self``.
        existed: Whether there was something.
        own: Whether the same hook run had made, emptied or removed it before, so that it shows nothing else.
    """

    path: str
    kind: LookKind
    existed: bool
    own: bool = False


@dataclass(frozen=True, slots=True)
class ReadSource:
    """
    Something besides files that was asked.

    Attributes:
        detail: Which one: ``realtime``, ``monotonic`` or ``boottime`` for a clock; ``getrandom`` or a device
            for random numbers; family and address of a socket; a process number or ``all``; a path; a call.
        times: How often, beyond what the start of the program asks for.
    """

    kind: SourceKind
    detail: str
    times: int = 1


@dataclass(frozen=True, slots=True)
class ProgramReads:
    """
    What one program looked at, from its start to its end, with the copies that it made of itself (subshells).

    Attributes:
        path: The program, without links; for a script its interpreter.
        script: The script that was executed; empty if the program itself was.
        invoked: The program as it was named, with links: by these Python finds its virtual environment.
        looks: The paths, each look once, in order.
        sources: What else it asked.
        startup: Looks that an empty program of the same interpreter makes too; not in ``looks``.
    """

    path: str
    script: str = ""
    invoked: str = ""
    looks: tuple[PathLook, ...] = ()
    sources: tuple[ReadSource, ...] = ()
    startup: tuple[PathLook, ...] = ()


@dataclass(frozen=True, slots=True)
class FileWrite:
    """
    A file that was opened for writing.

    Attributes:
        path: Absolute and resolved.
        existed: Whether it existed when it was first opened so.
        read: Whether it was open for reading too; it then stands among the looks as well.
        append: Whether it was always opened to append.
        emptied: Whether it was emptied or made each time that it was opened.
        queried: Whether a program asked for its size or for a position in it, beyond what programs do with
            any file that they write. What is not known counts as asked.
    """

    path: str
    existed: bool
    read: bool = False
    append: bool = False
    emptied: bool = False
    queried: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """
    A word in a script that stands for something that no system call shows.

    Attributes:
        path: The file that was opened; empty for a command line.
        word: The word. ``RANDOM`` and ``rdrand`` are random numbers without a call; ``$$``, ``BASHPID``,
            ``PPID``, ``getpid`` and ``getppid`` are process numbers, which differ in each run; ``rdtsc`` is a
            clock. ``st_mtime`` stands for all names by which a script of Python or Node learns the times of
            files, and for a script that could not be read; ``st_mtime ls`` for arguments of ``ls`` with which
            it tells them. The others decide what is subtracted from a record.
    """

    path: str
    word: str


@dataclass(frozen=True, slots=True)
class Reads:
    """
    What one hook run looked at.

    Attributes:
        programs: The programs that ran, in the order of their starts.
        mentions: Words in scripts that stand for what stays invisible.
        gap: Why the record is not complete, or why there is none; empty if it is complete.
        observed: Whether there is a record at all.
        chosen: Times that its programs gave files, in nanoseconds, if its clock was moved.
    """

    programs: tuple[ProgramReads, ...] = ()
    writes: tuple[FileWrite, ...] = ()
    mentions: tuple[Mention, ...] = ()
    gap: str = ""
    observed: bool = True
    chosen: tuple[int, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether nothing was looked at that is not in the record, but for what stays invisible."""
        return self.observed and not self.gap

    @property
    def looks(self) -> tuple[PathLook, ...]:
        """The looks of all programs, each once."""
        return tuple(dict.fromkeys(look for program in self.programs for look in program.looks))

    @property
    def sources(self) -> tuple[ReadSource, ...]:
        """The sources that all programs asked."""
        return tuple(source for program in self.programs for source in program.sources)

    def asked(self, kind: SourceKind) -> bool:
        """Return whether a kind of source was asked."""
        return any(source.kind is kind for source in self.sources)


@dataclass(frozen=True, slots=True, kw_only=True)
class Influences:
    """
    What could make the next repetition of a cycle go another way than the observed one.

    Attributes:
        matters: What was read that changes or lies outside of the state, in words; empty if nothing was.
        clock: Whether the clock was read, or times of files that are written in each repetition.
        timed: The code that decides by the clock.
        why: Why nothing was observed; empty if everything was.
        read: Where the files are that were opened for reading, apart from those of the system.
        decisive: State paths of what was read that changes, among them folders that were listed.
        unread: State paths of files whose content differs between the last repetitions, and was not read.
        chance: Whether random or process numbers were read, or a script has words that stand for them.
        places: What matters and is part of the state: in words, its state path, and how it was looked at.
        outside: What else matters, apart from the clock and from what differs in every run, in words.
        missing: Paths in the workspace that hooks looked for and that were not there, relative to it.
        masked: State paths of files that were opened for reading and that the scenario masks.
    """

    matters: tuple[str, ...] = ()
    clock: bool = False
    timed: tuple[str, ...] = ()
    why: str = ""
    read: tuple[str, ...] = ()
    decisive: frozenset[str] = frozenset()
    unread: frozenset[str] = frozenset()
    chance: bool = False
    places: tuple[tuple[str, str, LookKind], ...] = ()
    outside: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    masked: tuple[str, ...] = ()

    @property
    def observed(self) -> bool:
        """Whether all reads of the repetition are known."""
        return not self.why


@dataclass(frozen=True, slots=True, kw_only=True)
class ObservedCycle:
    """A cycle of which one repetition was observed: the turn before it, and its length in turns."""

    stem: int
    period: int
    influences: Influences


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelPaths:
    """
    Paths by which a kernel tells about itself.

    Attributes:
        constant: Those whose content stays as it is while the machine runs.
        folders: The beginnings of all of them; what is not constant there changes all the time.
        without_space: The beginnings of those whose free space programs ask for to learn something else.
        streams: The paths of a program's own standard streams, in their order.
    """

    constant: re.Pattern[str]
    folders: tuple[str, ...]
    without_space: tuple[str, ...]
    streams: tuple[str, ...]
