"""
ProcessOwners: which hook of a batch started a process, also after its parent has ended.

Loaded by the supervisor too.
"""

from __future__ import annotations

import os
import resource
import stat

from pytest_hookharness.execution.platform import linux
from pytest_hookharness.execution.platform.current import system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pytest_hookharness.execution.platform.linux import ProcessRow

_STEP = 1 << 12
_LARGEST = 1 << 62
# Above all numbers of processes, so that no mark on the machine is an ancestor of another one by chance.
_OF_MACHINE = 1 << 22
# Above the descriptors that shells and scripts take, but for the 255 of bash; a Mac allows 256.
_HIGHEST = 199
# A shell changes these.
_CHANGING = (b"PWD=", b"OLDPWD=", b"SHLVL=", b"_=")


class DescriptorMark:
    """
    A pipe that the descendants of a hook inherit, where processes cannot be marked.

    ``passed`` are the descriptors that hooks inherit: of this pipe, and of pipes that this process inherited.
    """

    def __init__(self) -> None:
        self._reading_ends = list[int]()
        passed = list[int]()
        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        self._number = _HIGHEST if limit == resource.RLIM_INFINITY else min(_HIGHEST, limit - 1)
        while (mode := _mode(self._number)) is not None:
            passed += [self._number] if stat.S_ISFIFO(mode) else []
            self._number -= 1
        self.passed = (self._number, *reversed(passed))

    def renew(self) -> None:
        """Make the pipe of the hook that is started next."""
        self.close()
        reading, writing = os.pipe()
        self._reading_ends.append(reading)  # or another pipe could get its name
        try:
            os.dup2(writing, self._number, inheritable=False)
        finally:
            os.close(writing)

    def close(self) -> None:
        """Close the end of the pipe that a hook inherits."""
        if _mode(self._number) is not None:
            os.close(self._number)

    def forget(self) -> None:
        """Close all that is open; the names are no evidence any more."""
        self.close()
        while self._reading_ends:
            os.close(self._reading_ends.pop())

    def name(self) -> str:
        """Return the name that the process table gives to the pipe."""
        return system.stream_name(self._number, socket=False)

    def of(self, pid: int) -> str:
        """Return the name of the pipe that a process has in this place; empty if it has none."""
        return system.link(pid, self._number)


def _mode(descriptor: int) -> int | None:
    """Return the mode of an open descriptor; ``None`` if it is not open."""
    try:
        return os.fstat(descriptor).st_mode
    except OSError:
        return None


class ProcessOwners:
    """
    The hooks of one batch, and which of them a process descends from.

    Each hook has a mark that its descendants inherit. The second evidence is the session and the process
    group that a hook led. A mark consists of the mark of the process that starts the batch and of the hook's
    place. So hooks that a fake agent within a hook starts have marks that belong to that hook, and the mark
    of a hook is the same in each run, but where processes of the whole machine are looked through: there it
    contains the number of the process that starts the batch. Where the system has no marks, and orphans are
    lost, the mark is a descriptor.

    Attributes:
        since: When the batch began, on the clock of the process table.
    """

    def __init__(self, count: int, *, whole_machine: bool = False) -> None:
        """Begin a batch of hooks; ``whole_machine``: look through processes too that none of them started."""
        # If there is one hook, all processes are its own.
        self._marks = count > 1 or whole_machine
        self._descriptor = DescriptorMark() if whole_machine and not linux.has_marks() else None
        self._own = linux.mark(os.getpid()) if self._marks else 0
        self._base = (self._own or (_OF_MACHINE + os.getpid() if whole_machine else 1)) * _STEP
        self.since = system.boot_clock() - 2 * system.TICK if whole_machine else 0.0
        self._by_mark: dict[int, int] = {}
        self._by_pipe: dict[str, int] = {}
        self._by_stream: dict[str, int] = {}
        self._streams: dict[int, Callable[[], Collection[str]]] = {}
        self._environment: frozenset[bytes] = frozenset()
        self._pids: list[int] = []

    def before_start(self, place: int) -> None:
        """Mark the hook that is started next; ``place`` is its place in the batch."""
        if self._descriptor is not None:
            self._descriptor.renew()
        elif self._marks:
            known = place + 1 < _STEP and self._base < _LARGEST // _STEP
            linux.mark_children(self._base + place + 1 if known else self._own)

    def started(
        self,
        place: int,
        pid: int,
        streams: Callable[[], Collection[str]] = tuple,
        environment: Sequence[bytes] = (),
    ) -> None:
        """
        Record the process of the hook at a place of the batch.

        Args:
            streams: Returns the names of the pipes and sockets that it got, as far as they are open.
            environment: Its environment; hooks of one batch have the same but for details.
        """
        self._pids.append(pid)
        self._by_mark[self._base + place + 1] = pid
        self._streams[pid] = streams
        if self._descriptor is not None:
            self._by_pipe[self._descriptor.name()] = pid
        own = frozenset(entry for entry in environment if not entry.startswith(_CHANGING))
        self._environment = self._environment & own if len(self._pids) > 1 else own

    def after_starts(self) -> None:
        """Take the mark of the last hook from this process."""
        if self._descriptor is not None:
            self._descriptor.close()
        elif self._marks:
            linux.mark_children(self._own)

    def end(self) -> None:
        """Forget the hooks, because the batch has ended."""
        if self._descriptor is not None:
            self._descriptor.forget()

    @property
    def passed(self) -> tuple[int, ...]:
        """The descriptors that hooks inherit besides their streams."""
        return () if self._descriptor is None else self._descriptor.passed

    def owner(self, pid: int) -> int:
        """Return the process of the hook that started a process; 0 if that is unknown."""
        if not self._marks:
            return self._pids[0] if self._pids else 0
        return self._by_mark.get(self._mark(pid), 0) or self._by_leader(system.row(pid))

    def _mark(self, pid: int) -> int:
        """Return the mark of a process, or that of the hook of this batch around it."""
        mark = linux.mark(pid)
        while mark >= self._base + _STEP:
            mark //= _STEP
        return mark

    def _by_leader(self, row: ProcessRow | None) -> int:
        led = () if row is None else (row.session, row.group)
        return next((leader for leader in led if leader in self._pids), 0)

    @property
    def only_hook(self) -> int:
        """The process of the only hook of the batch; 0 if there are several."""
        return self._pids[0] if len(self._pids) == 1 else 0

    def look(self) -> None:
        """Find out which streams are evidence now: another one may get the name of one that is closed."""
        seen = ((name, pid) for pid, names in self._streams.items() for name in names())
        # A terminal has a path, and the next process may get it.
        self._by_stream = self._by_pipe | {name: pid for name, pid in seen if not name.startswith("/")}

    def shown_by(self, row: ProcessRow) -> int:
        """Return the hook that any process of the machine shows as its origin; 0 if it shows none."""
        if known := self._by_leader(row) or self._by_mark.get(self._mark(row.pid), 0):
            return known
        return next(
            (hook for name in system.open_files(row.pid) if (hook := self._by_stream.get(name, 0))), 0
        )

    def has_environment(self, pid: int) -> bool:
        """Return whether a process that has no mark any more has the environment of the hooks."""
        marked = linux.mark(pid) if self._descriptor is None else self._descriptor.of(pid)
        if not self._environment or marked:
            return False
        return self._environment <= system.environment(pid)

    def owners(self, tree: Collection[int]) -> list[tuple[int, int]]:
        """Return the processes of a tree, parents first, each with its owner or else that of its parent."""
        found: dict[int, int] = {}
        for pid in tree:
            found[pid] = self.owner(pid)
            if not found[pid] and (row := system.row(pid)) is not None:
                found[pid] = found.get(row.parent, 0)
        return [*found.items()]
