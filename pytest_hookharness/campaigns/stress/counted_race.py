"""
Counted races: hook runs side by side, steered into a race before they change what is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from pytest_hookharness import hosts
from pytest_hookharness.execution.races.steering import run_interleaved
from pytest_hookharness.judging.comparison.lost_updates import Tally, find_lost, find_torn, tally
from pytest_hookharness.judging.findings.codes import LOST_UPDATES, TORN_STATE
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload, Ruling
from pytest_hookharness.model.verdicts import Finding, FindingCode
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.testbed.host_actions import prepare_launch, run_hooks
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

# The most rounds where the runs cannot be steered, and a race shows by chance.
_MOST_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class _BatchResult:
    """
    What some hook runs left.

    Attributes:
        tallies: The tally of each counter.
        refused: How many of the runs refused.
    """

    tallies: tuple[Tally, ...]
    refused: int


class CountedRace:
    """
    The same hook runs one after the other and side by side, from one state.
    """

    def __init__(
        self,
        testbed: Testbed,
        checkpoint: Checkpoint,
        parallel: Parallel,
        hooks: Sequence[Hook],
        payload: Payload,
        remaining: Callable[[], float],
    ) -> None:
        self._testbed = testbed
        self._checkpoint = checkpoint
        self._parallel = parallel
        self._hooks = hooks
        self._payload = payload
        self._remaining = remaining
        self._command = ", ".join(hook.command for hook in hooks)
        self._before = testbed.files
        self._waves = parallel.waves or 1
        self._number = len(hooks) * parallel.width
        self._written: set[str] = set()
        self._reason = ""
        self._holds = 0

    @property
    def note(self) -> str:
        """
        How it was tried, as a sentence.
        """
        waves = "once" if self._waves == 1 else f"{self._waves} times over"
        tried = f"{self._parallel.event} started {self._number} hook runs side by side, {waves}: "
        if self._reason:
            return f"{tried}not steered ({self._reason}), so that nothing was lost may be luck."
        return f"{tried}steered, with {self._holds} holds before a write."

    def find(self) -> tuple[Finding, ...]:
        """
        Return what is lost or torn side by side, where every round one after the other gives the same.

        Raises:
            SimulationError: There is only one hook run, or a counter counts nothing.
        """
        if self._number < 2:
            raise SimulationError(
                f"parallel.width: the event runs one hook, {self._command}, and once is not side by side; "
                "write 2 or more"
            )
        alone = [self._round(self._one_by_one)]
        self._check(alone[0][-1])
        for _ in range(_MOST_ROUNDS):
            together = self._round(self._side_by_side)
            if any(self._compare(alone, together)):
                alone.append(self._round(self._one_by_one))
                return tuple(self._compare(alone, together))
            if not self._reason or not self._remaining():
                break
        return ()

    def _check(self, wave: _BatchResult) -> None:
        for place, (counted, one) in enumerate(zip(self._parallel.counts, wave.tallies, strict=True)):
            if not one.amount:
                raise SimulationError(
                    f"parallel.counts[{place}]: {counted} counts nothing after runs one after the other"
                    f"{f' ({one.torn})' if one.torn else ''}; name what each run adds to"
                )

    def _round(self, run: Callable[[], Sequence[tuple[Hook, ProcessResult]]]) -> list[_BatchResult]:
        """
        Run all waves, undo everything, and return what each wave left.
        """
        seen = [self._look(run()) for _ in range(self._waves)]
        self._written.update(change.path for change in changes(self._before, self._testbed.files))
        self._checkpoint.restore()
        return seen

    def _look(self, ran: Sequence[tuple[Hook, ProcessResult]]) -> _BatchResult:
        testbed = self._testbed
        testbed.scan()
        replies = (hosts.read_reply(testbed.profile, hook, self._parallel.event, run) for hook, run in ran)
        read = self._checkpoint.editor.read
        return _BatchResult(
            tuple(tally(read(f"workspace/{one.file}"), one) for one in self._parallel.counts),
            sum(reply.ruling is Ruling.DENY for reply in replies),
        )

    def _one_by_one(self) -> Sequence[tuple[Hook, ProcessResult]]:
        ran: list[tuple[Hook, ProcessResult]] = []
        for _ in range(self._parallel.width):
            for hook in self._hooks:
                results, _ = run_hooks(self._testbed, [hook], self._payload, self._remaining())
                ran += [(hook, result) for result in results if isinstance(result, ProcessResult)]
        return ran

    def _side_by_side(self) -> Sequence[tuple[Hook, ProcessResult]]:
        testbed, parallel = self._testbed, self._parallel
        places = [*range(len(self._hooks))] * parallel.width
        launches = [prepare_launch(testbed, self._hooks, place, self._payload) for place in places]
        start = partial(_start, testbed)
        done = run_interleaved(start, launches, self._watched(), parallel.apart, self._remaining())
        if late := [run for run in done.runs if isinstance(run.ending, TimedOut)]:
            raise SimulationError(
                f"parallel: {len(late)} of {len(done.runs)} hook runs side by side had not ended when "
                "their time was over, so nothing can be counted; see whether they wait for each other"
            )
        self._reason, self._holds = done.reason, self._holds + done.holds
        return [(self._hooks[place], run) for place, run in zip(places, done.runs, strict=True)]

    def _watched(self) -> list[str]:
        """
        Return the files in which runs are counted, and all others that they leave in the workspace.
        """
        inside = (path.removeprefix("workspace/") for path in self._written if path.startswith("workspace/"))
        names = {*inside, *(one.file for one in self._parallel.counts)}
        return [str(self._testbed.workspace.root / name) for name in sorted(names)]

    def _compare(
        self, alone: Sequence[Sequence[_BatchResult]], together: Sequence[_BatchResult]
    ) -> Iterator[Finding]:
        """
        Yield the differences of the first wave that has any.
        """
        for number, wave in enumerate(together):
            before = [other[number] for other in alone]
            found = [*self._compare_wave(before, wave)]
            if found:
                yield from found
                return

    def _compare_wave(self, alone: Sequence[_BatchResult], together: _BatchResult) -> Iterator[Finding]:
        for place, counted in enumerate(self._parallel.counts):
            before = [wave.tallies[place] for wave in alone]
            if lost := find_lost(before, together.tallies[place]):
                yield self._found(LOST_UPDATES, f"{self._number} runs side by side leave {counted} at {lost}")
            if torn := find_torn(before, together.tallies[place]):
                yield self._found(
                    TORN_STATE, f"after {self._number} runs side by side {counted.file} is torn: {torn}"
                )
        refused = {wave.refused for wave in alone}
        if len(refused) == 1 and together.refused > max(refused):
            usual = max(refused)
            text = (
                f"of {self._number} runs side by side {together.refused} refuse, one after the other {usual}"
            )
            yield self._found(LOST_UPDATES, text)

    def _found(self, code: FindingCode, text: str) -> Finding:
        return code.found(f"{self._parallel.event}: {text}.", hook=self._command)


def _start(testbed: Testbed, launches: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
    return testbed.sandbox.run(launches, budget=budget)
