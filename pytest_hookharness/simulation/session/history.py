"""The history of a run: what is kept of each turn for comparison with later ones."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from pytest_hookharness import agents, hosts
from pytest_hookharness.execution.workspace.workspace import WorkspaceError
from pytest_hookharness.judging.recurrence.cycle import changes
from pytest_hookharness.judging.recurrence.similar_turns import (
    LONGEST_PERIOD,
    TextOutlines,
    TurnSignature,
    actions_of,
    describe_difference,
)
from pytest_hookharness.judging.verdict.run_end import doubt_of_hook_runs
from pytest_hookharness.model.fast_dataclass import dataclass, replace
from pytest_hookharness.model.moves import Message, Observation
from pytest_hookharness.model.probes import ProbeEffect, ProbeResult, UnknownDecisionError
from pytest_hookharness.model.time_budget import BudgetEnded, check_time
from pytest_hookharness.model.trace import REPORTED_COUNTS, Change, HookRun, State, StateEntry, Step, Trace
from pytest_hookharness.simulation.session.driver import SessionDriver, SessionPoint

if TYPE_CHECKING:
    from pytest_hookharness.judging.state_diff.file_series import Files
    from pytest_hookharness.judging.state_diff.number_formats import SessionClock

# The messages that the agent saw, as they were and in equal words for equal outlines.
_Reworded: TypeAlias = tuple[tuple[Observation, ...], tuple[Observation, ...]]
_Compared: TypeAlias = tuple[dict[int, TurnSignature], _Reworded, dict[str, str]]

# Why a state equals no other: its turns differ in nothing but the time.
BLURRED = "a clock went on while it was compared"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repetition:
    """
    A cycle repetition that really took place; probes are compared with it.

    Attributes:
        start: Where host and agent stood at its start.
        point: Where they stood at its end.
        period: Its length in turns.
        files: The covered files at its end.
        written: The contents of the files that were written since the session began.
        ended: When everything that it wrote was written, in nanoseconds.
    """

    start: SessionPoint
    point: SessionPoint
    period: int
    steps: tuple[Step, ...]
    files: Mapping[str, StateEntry]
    written: Files
    outlines: TextOutlines
    ended: int
    hook_runs: tuple[HookRun, ...] = ()

    @property
    def wall(self) -> float:
        """Seconds that its hook runs took."""
        return sum(run.run.wall for run in self.hook_runs if run.run is not None)

    @property
    def uncapped(self) -> SessionPoint:
        """
        Where host and agent stand at its end, with the counts of the host's limits as at its start.

        The host's cap on the loop is reported beside the verdict; it must not end a probe.
        """
        before, now = self.start.progress.session, self.point.progress
        return replace(self.point, progress=replace(now, session=now.session.with_host_counts_of(before)))

    @property
    def turns(self) -> list[list[Step]]:
        """Its steps by turn."""
        numbers = sorted({step.turn for step in self.steps})
        return [[step for step in self.steps if step.turn == number] for number in numbers]

    def compare_decisions(self, driver: SessionDriver, remaining: Callable[[], float]) -> ProbeResult:
        """
        Drive as many turns as the repetition has, or up to the first that goes another way.

        Raises:
            BudgetEnded: The time ended before that.
            UnknownDecisionError: What a hook would have decided is unknown.
        """
        request: hosts.Request | None = driver.progress.request
        for number, expected in enumerate(self.turns, 1):
            if isinstance(request, hosts.NextAct):
                driver.give(request, driver.choose(request))
                request = driver.drive(remaining)
            if driver.out_of_time:
                raise BudgetEnded(f"turn {driver.turn} was tried")
            if request is None:
                raise UnknownDecisionError("a limit of the harness ended an experiment")
            seen = driver.steps_after(driver.turn - 1)
            if unknown := doubt_of_hook_runs(Trace(steps=tuple(seen))):
                raise UnknownDecisionError(unknown.why)
            what = describe_difference(expected, seen, self.outlines)
            over = isinstance(request, hosts.Ended) or (
                isinstance(request, hosts.NextAct) and request.turn_over
            )
            if what or over:
                what = what or "the turn was over"
                return ProbeResult(reaction=ProbeEffect.DECISION, what=what, turn=number, allows_stop=over)
        return ProbeResult(reaction=ProbeEffect.SAME)


class History:
    """The states, signatures, outlines of texts and file contents of a run, turn by turn."""

    def __init__(self, initial: Mapping[str, StateEntry], read: Callable[[str], bytes | None]) -> None:
        """Start before the first turn; ``read`` returns the content of a covered file by its state path."""
        self.states: dict[int, State] = {}
        self.outlines = TextOutlines()
        self._read = read
        self._initial = initial
        self._contents: dict[int, dict[str, bytes | None]] = {}
        self._turns: dict[int, tuple[SessionPoint, Observation, list[Step]]] = {}
        self._ended = 0
        self._signatures: dict[int, TurnSignature] = {}
        self._distinct: dict[TurnSignature, TurnSignature] = {}
        self._wording: dict[str, str] = {}
        # The messages that an agent saw, also reworded: with each turn there are more.
        self._reworded_seen: _Reworded = ((), ())
        # The same three values for comparisons without the words of hooks; both sets are exchanged.
        self._other_comparison: _Compared = {}, ((), ()), {}
        self._playback = agents.Playback()

    def remember(
        self, turn: int, state: State, point: SessionPoint, seen: Observation, steps: list[Step]
    ) -> None:
        """Add one turn, after which host and agent stand at a point; ``seen`` is what the agent sees next."""
        before = self.states[turn - 1].files if turn - 1 in self.states else self._initial
        self.states[turn] = state
        self._turns[turn] = (point, seen, steps)
        self._ended = time.time_ns()
        contents = dict(self._contents.get(turn - 1, {}))
        for change in changes(before, state.files):
            contents.pop(change.path, None)
            entry = state.files.get(change.path)
            is_file = entry is not None and entry.kind == "file"
            # A file that is too large, or no regular file any more, counts as unknown.
            with suppress(WorkspaceError):
                contents[change.path] = self._read(change.path) if is_file else None
        self._contents[turn] = contents
        # No comparison looks back further than two of the longest periods.
        self._contents.pop(turn - 2 * LONGEST_PERIOD - 1, None)

    def signature(self, turn: int) -> TurnSignature | None:
        """Return a turn without numbers, times and ids; ``None`` if there is no such turn."""
        if turn not in self._turns:
            return None
        if turn not in self._signatures:
            # Hooks may print much, and every word of it is read.
            check_time(f"turn {turn} was compared with others")
            point, seen, steps = self._turns[turn]
            state, position = self.states[turn], self._reworded(point.agent).position_without_counts
            # A state that cannot be compared gets its turn's number, which no other signature has.
            unique = turn if position.opaque or (state.opaque and state.opaque != BLURRED) else 0
            messages = [*map(self._outlined, seen.messages)]
            parts = [
                unique,
                # Counts that the host reports grow in each repetition; experiments show whether they matter.
                {name: value for name, value in state.visible.items() if name not in REPORTED_COUNTS},
                state.environment,
                position.text,
                point.answers,
                messages,
            ]
            text = json.dumps(parts, sort_keys=True, default=str)
            signature = TurnSignature(actions=actions_of(steps, self.outlines), state=text)
            # Equal ones are the same object, which is compared faster.
            self._signatures[turn] = self._distinct.setdefault(signature, signature)
        return self._signatures[turn]

    def prepare(self, last: int) -> None:
        """Prepare to compare later turns with those up to one, as far as there is time."""
        with suppress(BudgetEnded):
            for turn in range(last, max(0, last - 2 * LONGEST_PERIOD), -1):
                self.signature(turn)

    def find_stem(self, turn: int, period: int) -> int:
        """Return the turn since which each turn is similar to the one a period later."""
        stem = turn - period
        while stem and (found := self.signature(stem)) is not None and found == self.signature(stem + period):
            stem -= 1
        return stem

    def disregard_wording(self, turn: int, period: int) -> bool:
        """Return whether the last turns differ only in the words of hooks; if so, ignore them from now on."""
        if self.outlines.wording_varies:
            return False
        last = range(turn, max(2 * period, turn - LONGEST_PERIOD - period), -1)
        for varies in (False, True):
            self._let_wording_vary(varies)
            if all(self.signature(each) == self.signature(each - period) for each in last):
                return varies
        self._let_wording_vary(False)
        return False

    def _let_wording_vary(self, varies: bool) -> None:
        if varies == self.outlines.wording_varies:
            return
        self.outlines.wording_varies = varies
        compared = self._signatures, self._reworded_seen, self._wording
        self._signatures, self._reworded_seen, self._wording = self._other_comparison
        self._other_comparison = compared

    def differing(self, turn: int, period: int) -> list[Change]:
        """Return the files that differ between the states after the last repetitions, up to a turn."""
        ends = [
            self.states[turn - times * period] for times in range(3) if turn - times * period in self.states
        ]
        return [change for one, other in pairwise(ends) for change in changes(other, one)]

    def written(self, turn: int) -> Files:
        """Return the known contents, after a turn, of the files written since the session began."""
        return self._contents.get(turn, {})

    def last_repetition(self, driver: SessionDriver, period: int) -> Repetition:
        """Return the repetition that a driver has just completed."""
        steps = tuple(driver.steps_after(driver.turn - period))
        hook_runs = (run for _, run in Trace(steps=steps).hook_runs())
        return Repetition(
            start=self._turns[driver.turn - period][0],
            point=driver.point,
            period=period,
            steps=steps,
            files=driver.testbed.files,
            written=self.written(driver.turn),
            outlines=self.outlines,
            ended=self._ended,
            hook_runs=tuple(hook_runs),
        )

    def only_time_differs(self, first: int, second: int, clock: SessionClock) -> bool:
        """Return whether the states after two turns differ in nothing but timestamps of their own turn."""
        # Most runs compare no repetitions in this way.
        from pytest_hookharness.judging.state_diff.file_timestamps import equal_except_timestamps

        one, other = self.states[first], self.states[second]
        if (one.visible, one.agent, one.environment) != (other.visible, other.agent, other.environment):
            return False
        before, after = self.written(first), self.written(second)
        return all(
            change.how == "content"
            and before.get(change.path) is not None
            and equal_except_timestamps(before.get(change.path), after.get(change.path), clock)
            for change in changes(one, other)
        )

    def blur(self, turn: int) -> None:
        """Make the state after a turn equal to no other."""
        self.states[turn] = replace(self.states[turn], opaque=BLURRED)
        for signatures in (self._signatures, self._other_comparison[0]):
            signatures.pop(turn, None)

    def changed_files(self, turns: tuple[int, ...], without: Collection[str] = ()) -> tuple[Files, ...] | str:
        """
        Return the contents, after each of some turns, of all files that differ between them, by path.

        Some state paths are left out. If they cannot be compared, the reason is returned as a text.
        """
        differing = {
            change.path: change
            for turn, later in pairwise(turns)
            for change in changes(self.states[turn], self.states[later])
            if change.path not in without
        }
        found: list[dict[str, bytes | None]] = [{} for _ in turns]
        for path in differing:
            entries = [self.states[turn].files.get(path) for turn in turns]
            if all(entry is None or entry.kind == "folder" for entry in entries):
                if not any(other.startswith(f"{path}/") for other in differing):
                    return f"the folder {path} is made and removed"
                continue
            modes = {(entry.kind, entry.mode) for entry in entries if entry is not None}
            if len(modes) > 1 or any(kind != "file" for kind, _ in modes):
                return f"{path} changes its kind or its mode"
            contents = [self._contents.get(turn, {}).get(path) for turn in turns]
            if None not in entries and len(set(contents)) == 1 and contents[0] is not None:
                return f"{path} changes, but not in its content"
            for place, turn in enumerate(turns):
                known = self._contents.get(turn, {})
                if entries[place] is not None and known.get(path) is None:
                    return f"an earlier content of {path} is not known"
                found[place][path] = known.get(path)
        return tuple(found)

    def _reworded(self, agent: agents.Agent) -> agents.Agent:
        """Return the agent as if messages with equal outlines had been equal."""
        before, reworded = self._reworded_seen
        if agent.seen[: len(before)] != before:
            before, reworded = (), ()
        more = agent.seen[len(before) :]
        reworded = (*reworded, *(Observation(tuple(map(self._reword, one.messages))) for one in more))
        self._reworded_seen = agent.seen, reworded
        return replace(agent, seen=reworded, playback=self._playback)

    def _reword(self, message: Message) -> Message:
        outline = self.outlines.of_answer(message.text)
        return replace(message, text=self._wording.setdefault(outline, message.text))

    def _outlined(self, message: Message) -> str:
        return repr(replace(message, text=self.outlines.of_answer(message.text)))
