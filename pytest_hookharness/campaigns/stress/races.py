"""
Parallel fires: the same hooks side by side, and what becomes of their counts.

They begin with the state in which the session first comes to their event, and
all that they do is undone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.races.steering import run_interleaved
from pytest_hookharness.judging.comparison.lost_updates import Tally, find_lost, find_torn, tally
from pytest_hookharness.judging.findings.codes import LOST_UPDATES, TORN_STATE
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.model.parallel import Parallel
from pytest_hookharness.model.processes import ProcessResult, ProcessSpec, TimedOut
from pytest_hookharness.model.protocol import Hook, Payload, Ruling
from pytest_hookharness.model.verdicts import Finding, FindingCode
from pytest_hookharness.simulation.session.checkpoint import Checkpoint
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.host_actions import prepare_launch, run_hooks
from pytest_hookharness.simulation.testbed.run_settings import SimulationError
from pytest_hookharness.simulation.testbed.testbed import Testbed

# Rounds that are tried where fires cannot be steered, and what they show is luck.
_MOST_ROUNDS = 6


@dataclass(frozen=True, slots=True)
class RaceResult:
    """
    What parallel fires showed.

    Attributes:
        findings: What is wrong with the hooks.
        note: How it was tried, as a sentence.
    """

    findings: tuple[Finding, ...]
    note: str


def fire_in_parallel(
    stage: Testbed, agent: agents.Agent, parallel: Parallel, remaining: Callable[[], float]
) -> RaceResult:
    """
    Play a session until it comes to an event, and fire the hooks of that side by side.

    Args:
        stage: Where it is played.
        agent: The agent.
        parallel: What is fired.
        remaining: Gives the seconds that are left for all of it.

    Raises:
        SimulationError: The session never comes to such hooks, or the counts do not count them.
    """
    player = _Waiting(stage, agent, parallel, remaining)
    most = stage.settings.turns or stage.scenario.turns
    while player.told is None and player.turn < most:
        request = player.drive(remaining)
        if not isinstance(request, hosts.NextAct):
            break
        player.give(request, player.choose(request))
    if player.told is None:
        which = f" with {parallel.hook!r} in its command" if parallel.hook else ""
        raise SimulationError(
            f"parallel.event: the session fires no {parallel.event} hook{which}; "
            "name one that it does fire, or have the agent do what wakes it"
        )
    return player.told


class _Waiting(SessionDriver):
    """
    A player that waits for an event, and tries its hooks side by side before they are fired.

    Attributes:
        told: What that showed; ``None`` until then.
    """

    def __init__(
        self, stage: Testbed, agent: agents.Agent, parallel: Parallel, remaining: Callable[[], float]
    ) -> None:
        super().__init__(stage, agent)
        self.told: RaceResult | None = None
        self._parallel = parallel
        self._remaining = remaining

    def _run_hooks(self, request: hosts.RunHooks, budget: float) -> None:
        wanted = self._parallel
        hooks = [hook for hook in request.hooks if hook.type == "command" and wanted.hook in hook.command]
        if self.told is None and request.event == wanted.event and hooks:
            with Checkpoint(self.testbed, self.point) as rehearsal:
                trial = _Trial(self.testbed, rehearsal, wanted, hooks, request.payload, self._remaining)
                findings = tuple(replace(one, turn=self.turn) for one in trial.find())
            self.told = RaceResult(findings, trial.note)
        super()._run_hooks(request, min(budget, self._remaining()))


@dataclass(frozen=True, slots=True)
class _BatchResult:
    """
    What there was after some fires.

    Attributes:
        tallies: What each count says.
        refused: How many of the fires refused.
    """

    tallies: tuple[Tally, ...]
    refused: int


class _Trial:
    """
    The same fires one after the other and side by side, from one state.
    """

    def __init__(
        self,
        stage: Testbed,
        rehearsal: Checkpoint,
        parallel: Parallel,
        hooks: Sequence[Hook],
        payload: Payload,
        remaining: Callable[[], float],
    ) -> None:
        self._stage = stage
        self._rehearsal = rehearsal
        self._parallel = parallel
        self._hooks = hooks
        self._payload = payload
        self._remaining = remaining
        self._command = ", ".join(hook.command for hook in hooks)
        self._before = stage.files
        self._written: set[str] = set()
        self._reason = ""
        self._holds = 0

    @property
    def note(self) -> str:
        """
        How it was tried.
        """
        fires = len(self._hooks) * self._parallel.width
        waves = "once" if self._parallel.waves == 1 else f"{self._parallel.waves} times over"
        tried = f"{self._parallel.event} woke {fires} fires side by side, {waves}: "
        if self._reason:
            return f"{tried}not steered ({self._reason}), so that nothing was lost may be luck."
        return f"{tried}steered, with {self._holds} holds before a write."

    def find(self) -> tuple[Finding, ...]:
        """
        What is lost or torn side by side, each time one after the other gives the same.
        """
        if len(self._hooks) * self._parallel.width < 2:
            raise SimulationError(
                f"parallel.width: the event wakes one hook, {self._command}, and once is not side by side; "
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
                    f"parallel.counts[{place}]: {counted} counts nothing after fires one after the other"
                    f"{f' ({one.torn})' if one.torn else ''}; name what each fire adds to"
                )

    def _round(self, fire: Callable[[], Sequence[tuple[Hook, ProcessResult]]]) -> list[_BatchResult]:
        """
        Fire all waves, and put everything back; what was there after each.
        """
        seen = [self._look(fire()) for _ in range(self._parallel.waves)]
        self._written.update(change.path for change in changes(self._before, self._stage.files))
        self._rehearsal.restore()
        return seen

    def _look(self, fired: Sequence[tuple[Hook, ProcessResult]]) -> _BatchResult:
        stage = self._stage
        stage.scan()
        replies = (hosts.read_reply(stage.profile, hook, self._parallel.event, run) for hook, run in fired)
        read = self._rehearsal.editor.read
        return _BatchResult(
            tuple(tally(read(f"workspace/{one.file}"), one) for one in self._parallel.counts),
            sum(reply.ruling is Ruling.DENY for reply in replies),
        )

    def _one_by_one(self) -> Sequence[tuple[Hook, ProcessResult]]:
        fired: list[tuple[Hook, ProcessResult]] = []
        for _ in range(self._parallel.width):
            for hook in self._hooks:
                given, _ = run_hooks(self._stage, [hook], self._payload, self._remaining())
                fired += [(hook, run) for run in given if isinstance(run, ProcessResult)]
        return fired

    def _side_by_side(self) -> Sequence[tuple[Hook, ProcessResult]]:
        stage, parallel = self._stage, self._parallel
        places = [*range(len(self._hooks))] * parallel.width
        launches = [prepare_launch(stage, self._hooks, place, self._payload) for place in places]
        start = partial(_start, stage)
        done = run_interleaved(start, launches, self._watched(), parallel.apart, self._remaining())
        if late := [run for run in done.runs if isinstance(run.ending, TimedOut)]:
            raise SimulationError(
                f"parallel: {len(late)} of {len(done.runs)} fires side by side had not ended when "
                "their time was over, so nothing can be counted; see whether they wait for each other"
            )
        self._reason, self._holds = done.reason, self._holds + done.holds
        return [(self._hooks[place], run) for place, run in zip(places, done.runs, strict=True)]

    def _watched(self) -> list[str]:
        """
        The files in which fires are counted, and all others that they leave in the workspace.
        """
        inside = (path.removeprefix("workspace/") for path in self._written if path.startswith("workspace/"))
        names = {*inside, *(one.file for one in self._parallel.counts)}
        return [str(self._stage.workspace.root / name) for name in sorted(names)]

    def _compare(
        self, alone: Sequence[Sequence[_BatchResult]], together: Sequence[_BatchResult]
    ) -> Iterator[Finding]:
        """
        The first wave's differences that there are.
        """
        for number, wave in enumerate(together):
            before = [other[number] for other in alone]
            found = [*self._compare_wave(before, wave)]
            if found:
                yield from found
                return

    def _compare_wave(self, alone: Sequence[_BatchResult], together: _BatchResult) -> Iterator[Finding]:
        fires = len(self._hooks) * self._parallel.width
        for place, counted in enumerate(self._parallel.counts):
            before = [wave.tallies[place] for wave in alone]
            if lost := find_lost(before, together.tallies[place]):
                yield self._found(LOST_UPDATES, f"{fires} fires side by side leave {counted} at {lost}")
            if torn := find_torn(before, together.tallies[place]):
                yield self._found(
                    TORN_STATE, f"after {fires} fires side by side {counted.file} is torn: {torn}"
                )
        refused = {wave.refused for wave in alone}
        if len(refused) == 1 and together.refused > max(refused):
            usual = max(refused)
            words = f"of {fires} fires side by side {together.refused} refuse, one after the other {usual}"
            yield self._found(LOST_UPDATES, words)

    def _found(self, code: FindingCode, words: str) -> Finding:
        return code.found(f"{self._parallel.event}: {words}.", hook=self._command)


def _start(stage: Testbed, launches: Sequence[ProcessSpec], budget: float) -> tuple[ProcessResult, ...]:
    return stage.sandbox.run(launches, budget=budget)
