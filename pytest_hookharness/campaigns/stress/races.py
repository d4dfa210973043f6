"""
Races: runs of the same hooks side by side, and what they leave less of than one after the other.

All of them begin with the state in which the session first comes to these hooks, and everything they do is
undone. Where counters are named, the runs are steered into a race (``counted_race``). Elsewhere every file
that the hooks write is weighed, and a race shows by chance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from pytest_hookharness import agents, hosts
from pytest_hookharness.campaigns.stress.counted_race import CountedRace
from pytest_hookharness.judging.comparison.lost_updates import Weights, doubts, losses, weigh
from pytest_hookharness.judging.findings.codes import LOST_UPDATES
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.mutations import Parallel
from pytest_hookharness.model.processes import Cut, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload
from pytest_hookharness.model.verdicts import Finding
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.host_actions import run_hooks
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Rounds one after the other that must agree, and the most rounds side by side until something is lost.
_ALONE, _MOST_ROUNDS = 2, 6
# A round runs twice, the second time on what the first has left.
_WAVES = 2
_SHOWN = 3
_LIMITS = {
    Cut.LIMIT: "the host's limit",
    Cut.HOOK_TIMEOUT: "the hook timeout",
    Cut.BUDGET: "the time of the run",
}


@dataclass(frozen=True, slots=True)
class RaceResult:
    """
    What hook runs side by side showed.

    Attributes:
        findings: Their defects.
        notes: How it was tried, and what is not known, in sentences.
    """

    findings: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()


def run_race(
    testbed: Testbed, agent: agents.Agent, parallel: Parallel, remaining: Callable[[], float]
) -> RaceResult:
    """
    Run a session, and its hooks side by side where the session first comes to them.

    Args:
        testbed: Where the session runs.
        agent: The agent.
        parallel: Which hooks run, and how.
        remaining: Returns the seconds that are left for all of it.

    Raises:
        SimulationError: The session never comes to the named hooks, or the counters do not count them.
    """
    driver = _RacingDriver(testbed, agent, parallel, remaining)
    most = testbed.settings.turns or testbed.scenario.turns
    while not driver.is_done and driver.turn < most:
        request = driver.drive(remaining)
        if not isinstance(request, hosts.NextAct):
            break
        driver.give(request, driver.choose(request))
    if parallel.event and not driver.met:
        which = f" with {parallel.hook!r} in its command" if parallel.hook else ""
        raise SimulationError(
            f"parallel.event: the session fires no {parallel.event} hook{which}; "
            "name one that it does fire, or have the agent do what triggers it"
        )
    return RaceResult(tuple(driver.findings), tuple(dict.fromkeys(driver.notes)))


class _RacingDriver(SessionDriver):
    """
    A session driver that runs hooks side by side before they run for the first time.

    Attributes:
        findings: The defects of the races.
        notes: How they were tried, and which show nothing.
        met: Whether the session came to the hooks.
    """

    def __init__(
        self, testbed: Testbed, agent: agents.Agent, parallel: Parallel, remaining: Callable[[], float]
    ) -> None:
        super().__init__(testbed, agent)
        self.findings: list[Finding] = []
        self.notes: list[str] = []
        self.met = False
        self._parallel = parallel
        self._remaining = remaining
        self._tried: set[tuple[str, ...]] = set()

    @property
    def is_done(self) -> bool:
        """
        Whether nothing more is to be tried: counters are counted at the first event.
        """
        return self.met and bool(self._parallel.counts)

    def _run_hooks(self, request: hosts.RunHooks, budget: float) -> None:
        wanted = self._parallel
        hooks = tuple(
            hook for hook in request.hooks if hook.type == "command" and wanted.hook in hook.command
        )
        if hooks and wanted.event in ("", request.event) and not self.is_done:
            self.met = True
            if wanted.counts:
                self._count(hooks, request)
            elif self._is_new(request.event, hooks):
                self._weigh(hooks, request)
        super()._run_hooks(request, min(budget, self._remaining()))

    def _count(self, hooks: Sequence[Hook], request: hosts.RunHooks) -> None:
        with Checkpoint(self.testbed, self.point) as checkpoint:
            race = CountedRace(
                self.testbed, checkpoint, self._parallel, hooks, request.payload, self._remaining
            )
            self.findings += (replace(one, turn=self.turn) for one in race.find())
        self.notes.append(race.note)

    def _is_new(self, event: str, hooks: Sequence[Hook]) -> bool:
        """
        Whether these hooks were not tried together at that event; from now on they are.
        """
        key = (event, *(hook.command for hook in hooks))
        new = key not in self._tried
        self._tried.add(key)
        return new

    def _weigh(self, hooks: Sequence[Hook], request: hosts.RunHooks) -> None:
        width = self._parallel.width
        side_by_side = f"{width} runs of {request.event} side by side"
        with Checkpoint(self.testbed, self.point) as checkpoint:
            race = _WeighedRace(self.testbed, checkpoint, request.payload, self._parallel, self._remaining)
            try:
                writers = race.find_writers(hooks)
                # Other hooks beside the writers change nothing, so this was tried if the writers were.
                if not writers or (len(writers) < len(hooks) and not self._is_new(request.event, writers)):
                    return
                lost = race.find_losses(writers)
            except _UnjudgedError as trouble:
                self.notes.append(f"Not tried (parallel): what {side_by_side} lose; {trouble}.")
                return
        if lost:
            text = f"{request.event}: {width} runs side by side leave less than one after the other: {lost}."
            command = ", ".join(hook.command for hook in writers)
            self.findings.append(LOST_UPDATES.found(text, turn=self.turn, hook=command))
        elif race.doubts:
            files = ", ".join([*race.doubts][:_SHOWN])
            self.notes.append(
                f"Not known (parallel): {side_by_side} leave less in {files}; the system does not report how "
                "often that was written, and runs that did not write have lost nothing."
            )


class _UnjudgedError(Exception):
    """
    A round that shows nothing, and why.
    """


class _WeighedRace:
    """
    Runs of the same hooks with the same input from the same state, in rounds that are undone.

    Attributes:
        doubts: Files in which less was left and whose number of writes is not known.
    """

    def __init__(
        self,
        testbed: Testbed,
        checkpoint: Checkpoint,
        payload: Payload,
        parallel: Parallel,
        remaining: Callable[[], float],
    ) -> None:
        self.doubts: dict[str, None] = {}
        self._testbed = testbed
        self._checkpoint = checkpoint
        self._payload = payload
        self._width = parallel.width
        self._waves = parallel.waves or _WAVES
        self._remaining = remaining
        self._before = testbed.files

    def find_writers(self, hooks: Sequence[Hook]) -> list[Hook]:
        """
        Return the hooks that write files. Most write nothing, and two runs of them cost less than a race.

        Raises:
            _UnjudgedError: A hook run was cut.
        """
        return [
            hook for hook in hooks if any(any(weights.amounts.values()) for weights in self._round([[hook]]))
        ]

    def find_losses(self, hooks: Sequence[Hook]) -> str:
        """
        Return what is lost side by side, in words; empty if no loss was seen.

        Raises:
            _UnjudgedError: A hook run was cut, so what it leaves shows nothing.
        """
        one_by_one = [[hook] for _ in range(self._width) for hook in hooks]
        at_once = [[hook for hook in hooks for _ in range(self._width)]]
        alone = [self._round(one_by_one) for _ in range(_ALONE)]
        for _ in range(_MOST_ROUNDS):
            together = self._round(at_once)
            for wave, weights in enumerate(together):
                before = [other[wave] for other in alone]
                lost = [*losses(before, weights)]
                if lost:
                    return "; ".join(lost[:_SHOWN])
                self.doubts |= dict.fromkeys(doubts(before, weights))
            if not self._remaining():
                break
        return ""

    def _round(self, batches: Sequence[Sequence[Hook]]) -> list[Weights]:
        """
        Run some batches in waves, undo everything, and return the weights after each wave.
        """
        seen: list[Weights] = []
        writes: Counter[str] = Counter()
        # What the scanner has seen until now is not of this round.
        self._testbed.scan()
        try:
            for _ in range(self._waves):
                for batch in batches:
                    _require_whole(run_hooks(self._testbed, batch, self._payload, self._remaining())[0])
                self._testbed.scan()
                writes.update(self._testbed.scanner.written or {})
                seen.append(weigh(dict(self._changed()), writes))
        finally:
            self._checkpoint.restore()
        return seen

    def _changed(self) -> Iterator[tuple[str, bytes]]:
        for change in changes(self._before, self._testbed.files):
            data = self._checkpoint.editor.read(change.path)
            if data is not None:
                yield change.path, data


def _require_whole(runs: Sequence[ProcessResult | Payload]) -> None:
    for run in runs:
        match run:
            case ProcessResult(ending=TimedOut(after=after, by=by)):
                raise _UnjudgedError(f"one was cut after {after:g} s ({_LIMITS[by]}), and that is no loss")
            case _:
                continue
