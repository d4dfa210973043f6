"""
One race: runs of the same hooks one after the other and side by side, from one state.

The search is the same with and without counters. The order of a counted race is controlled: each run is
held before it changes what others have read, so one round is enough. Any other race shows by chance, in
several rounds, in whatever the hooks write.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic, TypeAlias, TypeVar

from pytest_hookharness import hosts
from pytest_hookharness.judging.comparison.lost_updates import (
    REFUSE,
    EndingKey,
    RunEndings,
    Weights,
    count_endings,
    doubts,
    lost_updates,
    more_often,
    weigh,
)
from pytest_hookharness.judging.findings.codes import LOST_UPDATES
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.processes import Cut, ProcessResult, ProcessSpec, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.verdicts import Finding, FindingCode
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.testbed.host_actions import prepare_launch, run_hooks
from pytest_hookharness.simulation.testbed.testbed import Testbed

Measure = TypeVar("Measure")
Ran: TypeAlias = Sequence[tuple[Hook, ProcessResult]]
# An input that the session has sent, with the hooks that run for it.
Call: TypeAlias = tuple[Sequence[Hook], Payload]
# The most rounds side by side where a race shows by chance.
_MOST_ROUNDS = 6
# The further rounds one after the other that a failure must not show in.
_MORE_ALONE = 3
_SHOWN = 3
_LIMITS = {
    Cut.LIMIT: "the host's limit",
    Cut.HOOK_TIMEOUT: "the hook timeout",
    Cut.BUDGET: "the time of the run",
    Cut.BACKGROUND: "the time in the background",
}


@dataclass(frozen=True, slots=True)
class RaceSetup:
    """The testbed of a race, the state in which each round begins, and its inputs, each with its hooks."""

    testbed: Testbed
    checkpoint: Checkpoint
    parallel: Parallel
    event: str
    calls: Sequence[Call]
    remaining: Callable[[], float]


class UnjudgedError(Exception):
    """A round that shows nothing, and why."""


@dataclass(frozen=True, slots=True)
class _Wave(Generic[Measure]):
    """The amounts that the hook runs of a wave left in files, and how they ended."""

    measure: Measure
    endings: RunEndings


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
        # Each run: the hooks of its input, its own place among them, and the input.
        self._runs = [
            (called, place, payload)
            for number in range(setup.parallel.width)
            for called, payload in [setup.calls[number % len(setup.calls)]]
            for place, hook in enumerate(called)
            if hook in hooks
        ]
        self._number = len(self._runs)
        self._before = setup.testbed.files
        self._written: dict[str, None] = {}

    def find(self) -> tuple[Finding, ...]:
        """
        Return what side by side goes differently than one after the other.

        Raises:
            SimulationError: The scenario asks for a race that cannot show anything.
            UnjudgedError: A hook run was cut, so what it leaves shows nothing.
        """
        alone = [self._round_alone() for _ in range(self.rounds_alone)]
        self._check(alone[0][-1].measure)
        for _ in range(_MOST_ROUNDS):
            together = self._round(self._side_by_side)
            worse = self._worse(alone, together)
            if len(alone) < 2 and (worse or self._compare(alone, together)):
                alone.append(self._round_alone())
            if found := (*self._compare(alone, together), *self._failures(alone, worse)):
                return found
            if self._is_certain() or not self._setup.remaining():
                break
        return ()

    def _failures(
        self, alone: list[list[_Wave[Measure]]], worse: Mapping[EndingKey, str]
    ) -> Iterator[Finding]:
        """Yield the failures that another round side by side shows again, and no further ones alone."""
        if not worse:
            return
        # A hook that fails by chance does so here or there.
        alone += [self._round_alone() for _ in range(_MORE_ALONE)]
        again = self._worse(alone, self._round(self._side_by_side))
        for (command, how), words in worse.items():
            if (command, how) in again:
                runs = sum(hooks[place].command == command for hooks, place, _ in self._runs)
                text = f"{self._setup.event}: of {runs} runs side by side {words}."
                yield (LOST_UPDATES if how == REFUSE else CRASHED).found(text, hook=command)

    def _worse(
        self, alone: Sequence[Sequence[_Wave[Measure]]], together: Sequence[_Wave[Measure]]
    ) -> dict[EndingKey, str]:
        """Return how runs side by side refuse or fail more often, with the words."""
        found: dict[EndingKey, str] = {}
        for number, wave in enumerate(together):
            endings = [one[number].endings for one in alone]
            found = {**dict(more_often(endings, wave.endings)), **found}
        return found

    def _check(self, measure: Measure) -> None:
        """Refuse a race whose runs one after the other leave nothing to compare."""
        del measure

    def _is_certain(self) -> bool:
        """Return whether one round side by side is as good as many."""
        return False

    @abstractmethod
    def _side_by_side(self) -> Ran: ...

    @abstractmethod
    def _measure(self) -> Measure: ...

    @abstractmethod
    def _compare_wave(self, alone: Sequence[Measure], together: Measure) -> Iterator[Finding]: ...

    def _one_by_one(self) -> Ran:
        return [one for called, place, payload in self._runs for one in self._run([called[place]], payload)]

    def _run(self, hooks: Sequence[Hook], payload: Payload) -> Ran:
        results, _ = run_hooks(self._testbed, hooks, payload, self._setup.remaining())
        pairs = zip(hooks, results, strict=True)
        return [(hook, result) for hook, result in pairs if isinstance(result, ProcessResult)]

    def _launches(self) -> list[ProcessSpec]:
        """Return how all runs are started."""
        return [prepare_launch(self._testbed, *run) for run in self._runs]

    def _pair(self, results: Sequence[ProcessResult]) -> Ran:
        pairs = zip(self._runs, results, strict=True)
        return [(called[place], result) for (called, place, _), result in pairs]

    def _round_alone(self) -> list[_Wave[Measure]]:
        if len(self._setup.calls) > 1:
            # What the order of different inputs decides is no loss, so it changes from round to round.
            self._runs.reverse()
        return self._round(self._one_by_one)

    def _round(self, run: Callable[[], Ran]) -> list[_Wave[Measure]]:
        """Run all waves, undo everything, and return the measure after each wave."""
        # Changes that the scanner has seen so far belong to earlier rounds.
        self._testbed.scan()
        try:
            return [self._wave(run) for _ in range(self._setup.parallel.waves or self.waves)]
        finally:
            self._setup.checkpoint.restore()

    def _wave(self, run: Callable[[], Ran]) -> _Wave[Measure]:
        ran = run()
        self._testbed.scan()
        self._written |= dict.fromkeys(change.path for change in changes(self._before, self._testbed.files))
        profile, event = self._testbed.profile, self._setup.event
        endings = count_endings(
            (hook.command, hosts.read_reply(profile, hook, event, result), result) for hook, result in ran
        )
        return _Wave(self._measure(), endings)

    def _compare(
        self, alone: Sequence[Sequence[_Wave[Measure]]], together: Sequence[_Wave[Measure]]
    ) -> tuple[Finding, ...]:
        """Return the differences of the first wave that has any."""
        for number, wave in enumerate(together):
            found = tuple(self._compare_wave([one[number].measure for one in alone], wave.measure))
            if found:
                return found
        return ()

    def _found(self, code: FindingCode, text: str) -> Finding:
        command = ", ".join(hook.command for hook in self._hooks)
        return code.found(f"{self._setup.event}: {text}.", hook=command)


class WeighedRace(Race[Weights]):
    """
    A race without counters, which shows only by chance, in the amounts that hooks leave in their files.

    If the number of writes to a file is not known, a smaller amount in it proves nothing.
    """

    waves = 2
    # Two, because a file that differs between them anyway is no doubt either.
    rounds_alone = 2

    def __init__(self, setup: RaceSetup, hooks: Sequence[Hook]) -> None:
        super().__init__(setup, hooks)
        self.doubts: dict[str, None] = {}
        self._writes: Counter[str] = Counter()

    def find_racing(self) -> list[Hook]:
        """
        Return the hooks that write files, and those that do worse side by side.

        Most do neither, and a few runs of them cost less than a race.

        Raises:
            UnjudgedError: A hook run was cut.
        """
        alone: set[EndingKey] = set()
        racing: set[str] = set()
        for hook in self._hooks:
            payload = next(payload for called, payload in self._setup.calls if hook in called)
            for wave in self._round(partial(self._run, [hook], payload)):
                alone |= wave.endings.times.keys()
                racing |= {hook.command} if _writes(wave.measure) else set()
        if any(hook.command not in racing for hook in self._hooks):
            # Also of hooks that leave no file: a name, a lock or a port may be in use for a moment only.
            for wave in self._round(self._side_by_side):
                racing |= {command for command, _ in wave.endings.times.keys() - alone}
        return [hook for hook in self._hooks if hook.command in racing]

    def _side_by_side(self) -> Ran:
        results = self._testbed.run_processes(self._launches(), self._setup.remaining())
        return self._judged(self._pair(results))

    def _run(self, hooks: Sequence[Hook], payload: Payload) -> Ran:
        return self._judged(super()._run(hooks, payload))

    def _judged(self, ran: Ran) -> Ran:
        """Return hook runs if none was cut."""
        for _, result in ran:
            match result.ending:
                case TimedOut(after=after, by=by):
                    raise UnjudgedError(f"one was cut after {after:g} s ({_LIMITS[by]}), and that is no loss")
                case _:
                    continue
        return ran

    def _round(self, run: Callable[[], Ran]) -> list[_Wave[Weights]]:
        self._writes = Counter()
        return super()._round(run)

    def _measure(self) -> Weights:
        self._writes.update(self._testbed.scanner.written or {})
        paths = (change.path for change in changes(self._before, self._testbed.files))
        read = self._setup.checkpoint.editor.read
        files = {path: data for path in paths if (data := read(path)) is not None}
        return weigh(files, self._writes)

    def _compare_wave(self, alone: Sequence[Weights], together: Weights) -> Iterator[Finding]:
        if lost := [*lost_updates(alone, together)][:_SHOWN]:
            width = self._setup.parallel.width
            text = f"{width} runs side by side leave less than one after the other: {'; '.join(lost)}"
            yield self._found(LOST_UPDATES, text)
            return
        self.doubts |= dict.fromkeys(doubts(alone, together))


def _writes(weights: Weights) -> bool:
    """Return whether a hook run wrote a file, also one that is gone."""
    return any(weights.amounts.values()) or bool(weights.writes.get("", 0))
