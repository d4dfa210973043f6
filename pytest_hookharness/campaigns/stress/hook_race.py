"""
One race: runs of the same hooks one after the other and side by side, from one state.

The search is the same with and without counters. A counted race is steered: each run is held before it
changes what others have read, so one round is enough. Any other race shows by chance, in several rounds, in
whatever the hooks write.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from pytest_hookharness import hosts
from pytest_hookharness.execution.races.steering import run_interleaved
from pytest_hookharness.judging.comparison.lost_updates import (
    Tally,
    Weights,
    doubts,
    find_lost,
    find_torn,
    losses,
    tally,
    weigh,
)
from pytest_hookharness.judging.findings.codes import LOST_UPDATES, TORN_STATE
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.processes import Cut, ProcessResult, ProcessSpec, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload, Ruling
from pytest_hookharness.model.verdicts import Finding, FindingCode
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.testbed.host_actions import prepare_launch, run_hooks
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

Measure = TypeVar("Measure")
Ran: TypeAlias = Sequence[tuple[Hook, ProcessResult]]
# The most rounds side by side where a race shows by chance.
_MOST_ROUNDS = 6
_SHOWN = 3
_LIMITS = {
    Cut.LIMIT: "the host's limit",
    Cut.HOOK_TIMEOUT: "the hook timeout",
    Cut.BUDGET: "the time of the run",
}


@dataclass(frozen=True, slots=True)
class RaceSetup:
    """
    What a race takes place in.

    Attributes:
        testbed: Where the hooks run.
        checkpoint: The state that every round begins with.
        parallel: How many runs there are, and what counts them.
        event: The event of the hooks.
        payload: Their input.
        remaining: Returns the seconds that are left.
    """

    testbed: Testbed
    checkpoint: Checkpoint
    parallel: Parallel
    event: str
    payload: Payload
    remaining: Callable[[], float]


class UnjudgedError(Exception):
    """A round that shows nothing, and why."""


class Race(ABC, Generic[Measure]):
    """
    The same hook runs in rounds that are undone: one after the other, and side by side.

    A difference counts only if two rounds one after the other agree.
    """

    # How often a round runs everything, each time on what the time before has left.
    waves = 1
    # Rounds one after the other before the first one side by side; a difference takes two.
    rounds_alone = 1

    def __init__(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        self._setup = setup
        self._testbed = setup.testbed
        self._hooks = hooks
        self._number = len(hooks) * setup.parallel.width
        self._before = setup.testbed.files
        self._written: dict[str, None] = {}

    def find(self) -> tuple[Finding, ...]:
        """
        Return what side by side goes otherwise than one after the other.

        Raises:
            SimulationError: The scenario asks for a race that cannot show anything.
            UnjudgedError: A hook run was cut, so what it leaves shows nothing.
        """
        alone = [self._round(self._one_by_one) for _ in range(self.rounds_alone)]
        self._check(alone[0][-1])
        for _ in range(_MOST_ROUNDS):
            together = self._round(self._side_by_side)
            if self._compare(alone, together):
                if len(alone) < 2:
                    alone.append(self._round(self._one_by_one))
                if found := self._compare(alone, together):
                    return found
            if self._is_certain() or not self._setup.remaining():
                break
        return ()

    def _check(self, measure: Measure) -> None:
        """Refuse a race whose runs one after the other leave nothing to compare."""
        del measure

    def _is_certain(self) -> bool:
        """Whether one round side by side is as good as many."""
        return False

    @abstractmethod
    def _side_by_side(self) -> Ran: ...

    @abstractmethod
    def _measure(self, ran: Ran) -> Measure: ...

    @abstractmethod
    def _compare_wave(self, alone: Sequence[Measure], together: Measure) -> Iterator[Finding]: ...

    def _one_by_one(self) -> Ran:
        width = self._setup.parallel.width
        return [one for _ in range(width) for hook in self._hooks for one in self._run([hook])]

    def _run(self, hooks: Sequence[Hook]) -> Ran:
        results, _ = run_hooks(self._testbed, hooks, self._setup.payload, self._setup.remaining())
        pairs = zip(hooks, results, strict=True)
        return [(hook, result) for hook, result in pairs if isinstance(result, ProcessResult)]

    def _round(self, run: Callable[[], Ran]) -> list[Measure]:
        """Run all waves, undo everything, and return the measure after each wave."""
        # What the scanner has seen until now is not of this round.
        self._testbed.scan()
        try:
            return [self._wave(run) for _ in range(self._setup.parallel.waves or self.waves)]
        finally:
            self._setup.checkpoint.restore()

    def _wave(self, run: Callable[[], Ran]) -> Measure:
        ran = run()
        self._testbed.scan()
        self._written |= dict.fromkeys(change.path for change in changes(self._before, self._testbed.files))
        return self._measure(ran)

    def _compare(
        self, alone: Sequence[Sequence[Measure]], together: Sequence[Measure]
    ) -> tuple[Finding, ...]:
        """Return the differences of the first wave that has any."""
        for number, wave in enumerate(together):
            found = tuple(self._compare_wave([one[number] for one in alone], wave))
            if found:
                return found
        return ()

    def _found(self, code: FindingCode, text: str) -> Finding:
        command = ", ".join(hook.command for hook in self._hooks)
        return code.found(f"{self._setup.event}: {text}.", hook=command)


class WeighedRace(Race[Weights]):
    """
    A race that shows by chance in the weights of all files that the hooks write.

    Attributes:
        doubts: Files in which less was left and whose number of writes is not known.
    """

    waves = 2
    # Two, because a file that differs between them anyway is no doubt either.
    rounds_alone = 2

    def __init__(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        super().__init__(setup, hooks)
        self.doubts: dict[str, None] = {}
        self._writes: Counter[str] = Counter()

    def find_writers(self) -> list[Hook]:
        """
        Return the hooks that write files. Most write nothing, and two runs of them cost less than a race.

        Raises:
            UnjudgedError: A hook run was cut.
        """
        rounds = ((hook, self._round(partial(self._run, [hook]))) for hook in self._hooks)
        return [hook for hook, waves in rounds if any(any(wave.amounts.values()) for wave in waves)]

    def _side_by_side(self) -> Ran:
        return self._run([hook for hook in self._hooks for _ in range(self._setup.parallel.width)])

    def _run(self, hooks: Sequence[Hook]) -> Ran:
        ran = super()._run(hooks)
        for _, result in ran:
            match result.ending:
                case TimedOut(after=after, by=by):
                    raise UnjudgedError(f"one was cut after {after:g} s ({_LIMITS[by]}), and that is no loss")
                case _:
                    continue
        return ran

    def _round(self, run: Callable[[], Ran]) -> list[Weights]:
        self._writes = Counter()
        return super()._round(run)

    def _measure(self, ran: Ran) -> Weights:
        del ran  # only files count
        self._writes.update(self._testbed.scanner.written or {})
        paths = (change.path for change in changes(self._before, self._testbed.files))
        read = self._setup.checkpoint.editor.read
        files = {path: data for path in paths if (data := read(path)) is not None}
        return weigh(files, self._writes)

    def _compare_wave(self, alone: Sequence[Weights], together: Weights) -> Iterator[Finding]:
        if lost := [*losses(alone, together)][:_SHOWN]:
            width = self._setup.parallel.width
            text = f"{width} runs side by side leave less than one after the other: {'; '.join(lost)}"
            yield self._found(LOST_UPDATES, text)
            return
        self.doubts |= dict.fromkeys(doubts(alone, together))


@dataclass(frozen=True, slots=True)
class _Counts:
    """
    What the hook runs of a wave left.

    Attributes:
        tallies: The tally of each counter.
        refused: How many of the runs refused.
    """

    tallies: tuple[Tally, ...]
    refused: int


class CountedRace(Race[_Counts]):
    """A race that is steered, and that shows in the counters of a scenario."""

    def __init__(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        super().__init__(setup, hooks)
        self._counters = setup.parallel.counts
        self._reason = ""
        self._holds = 0
        if self._number < 2:
            raise SimulationError(
                f"parallel.width: the event runs one hook, {hooks[0].command}, and once is not side by side; "
                "write 2 or more"
            )

    @property
    def note(self) -> str:
        """How it was tried, as a sentence."""
        waves = self._setup.parallel.waves or self.waves
        often = "once" if waves == 1 else f"{waves} times over"
        tried = f"{self._setup.event} started {self._number} hook runs side by side, {often}: "
        if self._reason:
            return f"{tried}not steered ({self._reason}), so that nothing was lost may be luck."
        return f"{tried}steered, with {self._holds} holds before a write."

    def _check(self, measure: _Counts) -> None:
        for place, (counter, one) in enumerate(zip(self._counters, measure.tallies, strict=True)):
            if not one.amount:
                raise SimulationError(
                    f"parallel.counts[{place}]: {counter} counts nothing after runs one after the other"
                    f"{f' ({one.torn})' if one.torn else ''}; name what each run adds to"
                )

    def _is_certain(self) -> bool:
        return not self._reason

    def _side_by_side(self) -> Ran:
        testbed, parallel = self._testbed, self._setup.parallel
        places = [*range(len(self._hooks))] * parallel.width
        launches = [prepare_launch(testbed, self._hooks, place, self._setup.payload) for place in places]
        # The files in which runs are counted, and all others that they leave in the workspace.
        inside = (path.removeprefix("workspace/") for path in self._written if path.startswith("workspace/"))
        names = {*inside, *(one.file for one in self._counters)}
        watched = [str(testbed.workspace.root / name) for name in sorted(names)]
        start = partial(_start, testbed)
        done = run_interleaved(start, launches, watched, parallel.apart, self._setup.remaining())
        if late := [run for run in done.runs if isinstance(run.ending, TimedOut)]:
            raise SimulationError(
                f"parallel: {len(late)} of {len(done.runs)} hook runs side by side had not ended when "
                "their time was over, so nothing can be counted; see whether they wait for each other"
            )
        self._reason, self._holds = done.reason, self._holds + done.holds
        return [(self._hooks[place], run) for place, run in zip(places, done.runs, strict=True)]

    def _measure(self, ran: Ran) -> _Counts:
        profile, event = self._testbed.profile, self._setup.event
        replies = (hosts.read_reply(profile, hook, event, result) for hook, result in ran)
        read = self._setup.checkpoint.editor.read
        return _Counts(
            tuple(tally(read(f"workspace/{one.file}"), one) for one in self._counters),
            sum(reply.ruling is Ruling.DENY for reply in replies),
        )

    def _compare_wave(self, alone: Sequence[_Counts], together: _Counts) -> Iterator[Finding]:
        for place, counter in enumerate(self._counters):
            before = [wave.tallies[place] for wave in alone]
            if lost := find_lost(before, together.tallies[place]):
                yield self._found(LOST_UPDATES, f"{self._number} runs side by side leave {counter} at {lost}")
            if torn := find_torn(before, together.tallies[place]):
                yield self._found(
                    TORN_STATE, f"after {self._number} runs side by side {counter.file} is torn: {torn}"
                )
        usual = {wave.refused for wave in alone}
        if len(usual) == 1 and together.refused > max(usual):
            text = f"of {self._number} runs side by side {together.refused} refuse, one after the other "
            yield self._found(LOST_UPDATES, f"{text}{max(usual)}")


def _start(testbed: Testbed, launches: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
    return testbed.sandbox.run(launches, budget=budget)
