"""
The clock of the hooks, which can be ahead of the machine's.

The kernel shows programs the time, and the times of files by it, or ``shims`` show the time. The system
stamps files by its own clock. So where shims show the time, the files that were written since the clock was
last moved are shifted by as much, once no process of a hook run lives; older files keep their times.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from pytest_hookharness.execution.clock.shims import Shims
from pytest_hookharness.execution.paths import WorkspaceError, paths_below, reason_of
from pytest_hookharness.execution.platform.current import system
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec
from pytest_hookharness.model.reads import Reads

Starter = Callable[[Sequence[ProcessSpec]], tuple[ProcessResult, ...]]
# Seconds between two looks; a tick is some milliseconds long.
_LOOK = 0.0002
_BILLION = 1_000_000_000
# Nanoseconds: the system gives files the time of its last tick, which is not longer ago.
_TICK = 10_000_000
# The numbers of last clock moves, and of times that programs chose, that are kept for files.
_MOST_SHIFTS, _MOST_CHOSEN = 1000, 5000
_UNTRACED = "the process was not traced"
# Shows whether calls that show a time can be made to wait.
_TRIAL = ProcessSpec(argv=("/bin/sh", "-c", ":"), cwd="/", env={})


@dataclass(frozen=True, slots=True)
class Moment:
    """
    A moment of the hooks' clock.

    Attributes:
        ahead: Seconds by which it was ahead of the machine's.
        machine: What the machine's then showed, in seconds of the epoch; 0 if that does not count, because
            the time of experiments passes for the hooks too.
    """

    ahead: float = 0.0
    machine: float = 0.0

    def since(self, other: Moment) -> float:
        """Return the seconds from another moment of the same clock, as the hooks saw them."""
        return self.ahead - other.ahead + self.machine - other.machine

    def later(self, seconds: float) -> Moment:
        """Return the moment after some more seconds."""
        return replace(self, ahead=self.ahead + seconds)


class Clock:
    """
    The clock that the processes of one simulation see.

    Attributes:
        seconds: How far it is ahead of the machine's.
        moved: Whether shims ever showed it ahead.
        by_kernel: Whether calls that show a time wait for an answer, so that it needs no shims.
        gap: Why a process did not see it although its calls should have waited; empty if all saw it.
        shown: For each process whose calls waited: how it was started, and which times it was shown.
    """

    def __init__(
        self, folder: Path, doubles: Path, roots: Mapping[str, Path], hidden: Collection[str] = ()
    ) -> None:
        """
        Show the machine's time.

        Args:
            folder: Where the shims are written.
            doubles: The folder that stays first on the search path.
            roots: The folders in which files have times of this clock.
            hidden: Commands that must not be found.
        """
        self.seconds = 0.0
        self.moved = False
        self.by_kernel = False
        self.gap = ""
        self.shown: list[tuple[ProcessSpec, Reads]] = []
        self.folder = folder
        self._shims = Shims(folder, "date" not in hidden)
        self._doubles = doubles
        self._roots = roots
        self._since = 0
        # The modification time of each file changed since then, after its last look; by device and inode.
        self._settled: dict[tuple[int, int], int] = {}
        # The time that files got when the first process was started while the kernel showed this clock.
        self._began = 0
        self._can_go_back, self._made = False, time.time_ns() - _TICK
        # Since when, in nanoseconds of the machine's clock, it is by how many seconds ahead.
        self._shifts: list[tuple[int, float]] = []
        # Times of files that programs chose by it, in nanoseconds; they are no stamps of the system.
        self._chosen: dict[int, None] = {}
        self._untried: Starter | None = None

    @property
    def moment(self) -> Moment:
        """The present, to return to."""
        return Moment(self.seconds, time.time() if self._can_go_back else 0.0)

    @property
    def now(self) -> float:
        """Its time, in seconds of the epoch."""
        return time.time() + self.seconds

    def advance(self, seconds: float) -> None:
        """Let time pass; raise `WorkspaceError` if the hooks' clock cannot be moved on this machine."""
        if seconds:
            self._try_kernel()
            if not self.by_kernel:
                self._shift_written()
            self._show(self.seconds + seconds)

    def begin_ahead(self, seconds: float) -> None:
        """
        Begin a session ahead, so that ``return_to`` can take back the time that passed in experiments.

        The files that were written for the session get later times too. Nothing is done if only shims show
        the time, because other programs would then disagree with them from the start.

        Args:
            seconds: More than the session can take, with all experiments. Only while this clock is ahead of
                all of it, a time of a file tells whether the system stamped it or a program chose it.
        """
        self._try_kernel()
        if self.by_kernel:
            self._can_go_back = True
            self.seconds = seconds
            self._shifts = [(self._made, seconds)]

    def return_to(self, moment: Moment) -> None:
        """Go on from an earlier moment. What was tried since then took no time, if the clock can go back."""
        if not self._can_go_back:
            self.set_shift(moment.ahead)
            return
        now = time.time()
        machine = round(moment.machine * _BILLION)
        self._shifts = [(since, seconds) for since, seconds in self._shifts if since <= machine]
        # Never so little that a time of a file could have been chosen by a program or not.
        self.set_shift(max(moment.ahead - (now - moment.machine), now - self._made / _BILLION + 1.0))

    def set_shift(self, seconds: float) -> None:
        """Set how far this clock is ahead of the machine's, from now on."""
        if seconds != self.seconds:
            self._show(seconds)
            self._since = self._since if self.by_kernel else next_tick()

    def _try_kernel(self) -> None:
        """Try once whether calls that show a time can be made to wait."""
        if self._untried is not None:
            (tried,) = self._untried([replace(_TRIAL, ahead=1.0)])
            self.gap, self._untried = tried.reads.gap if tried.reads is not None else _UNTRACED, None
            self.by_kernel = not self.gap

    def _show(self, seconds: float) -> None:
        self.seconds = seconds
        if self.by_kernel:
            self._shifts = [*self._shifts[-_MOST_SHIFTS:], (next_tick(), seconds)]
        else:
            self._shims.set_shift(seconds)
            self.moved = True

    def environment(self, env: Mapping[str, str]) -> Mapping[str, str]:
        """Return an environment whose programs see this clock; the given one while it is not moved."""
        return self._shims.environment(env, self._doubles) if self.seconds and not self.by_kernel else env

    def apply_to(self, spec: ProcessSpec) -> ProcessSpec:
        """Return a process spec whose processes see this clock."""
        return replace(spec, env=self.environment(spec.env)) if self.seconds else spec

    def show_by_kernel(self, start: Starter) -> None:
        """
        Let the kernel show this clock to all programs, if it can.

        That is tried when the clock is first moved; ``gap`` says why the kernel cannot.
        """
        self.by_kernel, self._untried = True, start

    @contextmanager
    def shown_by_kernel(self) -> Generator[None]:
        """Let the kernel show this clock for the time of a block."""
        before, by_kernel, gap, untried = self.seconds, self.by_kernel, self.gap, self._untried
        shifts = self._shifts
        self.by_kernel, self.gap, self._untried = True, "", None
        try:
            yield
        finally:
            self.set_shift(before)
            self.by_kernel, self.gap, self._untried, self._shifts = by_kernel, gap, untried, shifts

    def run(self, start: Starter, specs: Sequence[ProcessSpec]) -> tuple[ProcessResult, ...]:
        """Start processes that see this clock; how they do is decided in ``environment`` or here."""
        if self.by_kernel:
            self._began = self._began or system.file_clock()
        if not self.by_kernel or not self.seconds:
            return start(specs)
        shifts, chosen = tuple(self._shifts), tuple(self._chosen)[-_MOST_CHOSEN:]
        results = start(
            [
                replace(spec, ahead=self.seconds, since=self._began, shifts=shifts, chosen=chosen)
                for spec in specs
            ]
        )
        records = [result.reads or Reads(observed=False) for result in results]
        for reads in records:
            self._chosen.update(dict.fromkeys(reads.chosen))
        self.gap = self.gap or next(filter(None, (reads.gap for reads in records)), "")
        self.shown += [pair for pair in zip(specs, records, strict=True) if not pair[0].observed]
        # What else they looked at is of use to those only that asked for it.
        return tuple(
            result if spec.observed else replace(result, reads=None)
            for spec, result in zip(specs, results, strict=True)
        )

    def set_time_of(self, path: str | Path) -> None:
        """Set the time of a file that the host has just written, by this clock."""
        if self.seconds and not self.by_kernel:
            _shift(str(path), os.lstat(path), self.now - os.lstat(path).st_mtime)

    def settle(self) -> None:
        """
        Shift the times of files written since the clock was moved. No process of a hook may be alive.

        Raises:
            WorkspaceError: The system does not allow it.
        """
        if self.seconds and not self.by_kernel:
            self._shift_written()

    def _shift_written(self) -> None:
        """Shift the times of files that were written since the clock was moved or this was done last."""
        # What changed after ``since`` was written meanwhile. A time of modification outside of the two
        # moments was set by the writer.
        since, until, settled = self._since, time.time_ns(), {}
        self._since = system.file_clock()
        for place, status in self._files():
            if status.st_ctime_ns < since:
                continue
            inode, time_of_it = (status.st_dev, status.st_ino), status.st_mtime_ns
            # What was written before, in the same tick of the kernel, keeps the time that it got here.
            # A time that the writer of a file chose, by this clock, is right already.
            if self.seconds and since <= time_of_it <= until and time_of_it != self._settled.get(inode):
                _shift(place, status, self.seconds)
                time_of_it = os.lstat(place).st_mtime_ns
            settled[inode] = time_of_it
        self._settled = settled

    def accept(self) -> None:
        """Take the present times of all files as times of this clock."""
        if self.seconds and not self.by_kernel:
            self._since = next_tick()

    def shift(self, seconds: float, since: float) -> None:
        """Move the times of files that were written since a time, in seconds of the epoch by this clock."""
        from pytest_hookharness.execution.platform.linux_clock_calls import shown_time

        now = time.time_ns()
        for place, status in self._files():
            shown = status.st_mtime_ns
            if self.by_kernel:
                shown = shown_time(shown, now, self._shifts, self._chosen)
            if shown / _BILLION >= since:
                self._chosen[_shift(place, status, seconds + (shown - status.st_mtime_ns) / _BILLION)] = None

    def age(self, seconds: float, make_older: Callable[[float], None]) -> None:
        """Make all files older; ``make_older`` does so where their own times are those of this clock."""
        if self.by_kernel and self._shifts:
            self.shift(-seconds, -math.inf)
        else:
            make_older(seconds)

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        for place in paths_below(self._roots.values()):
            try:
                yield place, os.lstat(place)
            except FileNotFoundError:
                continue


def _shift(place: str, status: os.stat_result, seconds: float) -> int:
    """Move the time of a file, and return the new one in nanoseconds."""
    moved = status.st_mtime_ns + round(seconds * 1e9)
    try:
        os.utime(place, ns=(status.st_atime_ns, moved), follow_symlinks=False)
    except OSError as error:
        raise WorkspaceError(place, f"cannot be given a time: {reason_of(error)}") from error
    return moved


def next_tick(since: int | None = None) -> int:
    """
    Return a time that files written from now on have or exceed, and files written before do not reach.

    ``since`` is a time since which nothing was written, in nanoseconds; ``None`` for the present.
    """
    # Within one tick the kernel gives the same time to what came before and after. A file may also be stamped
    # more finely, and then be ahead of the tick (Linux 6.13); it is never ahead of the time itself.
    # A finer stamp does not serve: it may be ahead of the clock by which other files are stamped.
    before = time.time_ns() if since is None else since
    while (now := system.file_clock()) <= before:
        time.sleep(_LOOK)
    return now
