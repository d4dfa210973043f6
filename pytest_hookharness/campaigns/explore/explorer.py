"""
Exploration: what a free agent can bring about, state by state.

Rounds go on until every move was tried in every state that was found, or a
bound is met. Within a round all states are tried side by side by whoever takes the errands; what they bring
back is put together in the order in which it was asked for, so that it does not matter who was first.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.explore.candidate_moves import CandidateMoves, Suggestions
from pytest_hookharness.campaigns.explore.expansion import ExpansionTask, expand_apart
from pytest_hookharness.campaigns.explore.state_graph import StateGraph
from pytest_hookharness.judging.recurrence.reachability import (
    Exit,
    Graph,
    find_locked,
    find_reachable,
    find_stopping,
    find_way,
    nearest,
)
from pytest_hookharness.model.exploration import (
    BEYOND,
    INTERRUPTED,
    LATE,
    Expansion,
    Exploration,
    ExploreOptions,
    Successor,
    TrapState,
)
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Move, Prompt, Script, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, Moved, Step, Trace
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

# Gives what came of errands, each with its place among them, as soon as it is there.
Work: TypeAlias = Callable[[Sequence[ExpansionTask]], Iterable[tuple[int, Expansion]]]
# Moves on a menu; one that was left out is open in every state.
MOST_MOVES = 24
# Acts of a run after which no way out of its loop is looked for, because each try plays them again.
_LONGEST_WAY = 60
# What is found must be played once more, so it gets only this part of the time.
_SEARCHING = 0.75
_AGAIN = "the way there, played again, led elsewhere"
_OTHERWISE = "made once more, a year later, it led elsewhere, or there was no time to make it"
# A lock that time opens is none.
_LATER = Wait(seconds=365 * 24 * 3600.0)


def check_explorable(scenario: Scenario) -> None:
    """
    Refuse to explore where moves cannot be undone.

    Raises:
        SimulationError: The scenario is to be explored, and has what lasts.
    """
    if scenario.explore is None or not (scenario.cover or scenario.processes):
        return
    key, what = (
        ("world.cover", "it is the developer's own") if scenario.cover else ("processes", "they go on")
    )
    raise SimulationError(
        f"explore: moves cannot be undone in what is under `{key}`, for {what}; leave out one of the two keys"
    )


def first_way(script: Script) -> tuple[Act, ...]:
    """
    What happens before an agent makes its first move.
    """
    acts = (
        script.acts
        if any(isinstance(act, Prompt) for act in script.acts[:1])
        else (FIRST_PROMPT, *script.acts)
    )
    return tuple(itertools.takewhile(lambda act: isinstance(act, hosts.EVENTS), acts))


def way_to(outcome: Outcome, turn: int) -> tuple[Act, ...]:
    """
    All acts of a run up to the end of a turn.
    """
    acts: list[Act] = []
    for step in outcome.trace.steps:
        match step.exchange:
            case Moved(move=move) if step.turn <= turn:
                acts.append(move)
            case Happened(event=event) if step.turn <= turn:
                acts.append(event)
            case _:
                continue
    return tuple(acts)


def with_executor(executor: Executor) -> Work:
    """
    Have errands done by an executor, in whatever processes and on whatever machines it has.
    """

    def work(errands: Sequence[ExpansionTask]) -> Iterable[tuple[int, Expansion]]:
        places = {executor.submit(expand_apart, errand): place for place, errand in enumerate(errands)}
        try:
            for future in as_completed(places):
                yield places[future], future.result()
        finally:
            for future in places:
                future.cancel()

    return work


class Explorer:
    """
    One exploration under way.

    Attributes:
        interrupted: Whether Ctrl-C ended it.
    """

    def __init__(
        self,
        scenario: Scenario,
        settings: Settings,
        suggestions: Suggestions,
        work: Work,
        *,
        seconds: float,
    ) -> None:
        """
        Make ready to explore.

        Args:
            scenario: What is played.
            settings: The settings of the run.
            suggestions: What the agent can do, if the scenario does not say.
            work: Who tries the moves.
            seconds: Real time for all of it.
        """
        wish = scenario.explore or ExploreOptions()
        known = Suggestions(given=wish.moves) if wish.moves else suggestions
        self._menu = CandidateMoves(known, most=MOST_MOVES, fixed=bool(wish.moves))
        # What is asked for is explored by whoever asks; the errand itself is a plain scenario.
        self._plain = ExpansionTask(
            scenario=replace(scenario, origin=None, explore=None, vary=(), parallel=None),
            settings=replace(settings, probes=False, keep=False, base=None),
            way=(),
            moves=(),
            until=0.0,
        )
        self._work = work
        self._began = time.monotonic()
        self._seconds = seconds
        self._searching = seconds * _SEARCHING
        self._atlas = StateGraph(wish.states)
        # What took place on the way to states from which others are reached.
        self._roots: dict[int, tuple[Step, ...]] = {}
        self._lost: Counter[str] = Counter()
        self._tried = 0
        self.interrupted = False

    def explore(self, outcome: Outcome) -> Exploration:
        """
        Explore from the beginning of a scenario, and from the loop that its own agent ran into, if it did.

        Ctrl-C ends it early; what it had under way then is open.
        """
        scenario = self._plain.scenario
        since = outcome.verdict.stem if isinstance(outcome.verdict, Livelock) else None
        ways = {-1: first_way(scenario.script)}
        if since is not None and len(way := way_to(outcome, since)) <= _LONGEST_WAY:
            ways[since] = way
        self._menu.learn(outcome.trace.steps)
        beginnings: Mapping[int, int] = {}
        trap = None
        try:
            beginnings = self._begin(ways)
            self._go_round()
            trap = self._find_trap()
        except KeyboardInterrupt:
            self.interrupted = True
            self._lost[INTERRUPTED] += 1
        graph = self._draw()
        inside = beginnings.get(since) if since is not None else None
        escape = find_way(graph, inside, lambda target: target is Exit.STOP) if inside is not None else None
        return Exploration(
            candidates=tuple(self._menu.moves),
            states=len(graph),
            tried=self._tried,
            stopping=len(find_stopping(graph)),
            open=self._count_open(),
            trap=trap,
            since=since if inside is not None else None,
            escape=tuple(self._menu.moves[move] for move in escape or ()),
            wall=time.monotonic() - self._began,
        )

    def _begin(self, ways: Mapping[int, tuple[Act, ...]]) -> Mapping[int, int]:
        """
        The states at the ends of some ways, which are the roots of all others; by the turn of each way.
        """
        moves = tuple(self._menu.moves)
        roots: dict[int, int] = {}
        asked = [(way, moves) for way in ways.values()]
        for (turn, way), found in zip(ways.items(), self._send(asked, self._searching), strict=True):
            if found is None or not found.digest:
                self._lost[found.why if found is not None else LATE] += len(moves)
                continue
            fresh = self._atlas.find(found.digest) is None
            state = self._atlas.enter(found.digest, way)
            if state is None:
                self._lost[BEYOND] += len(moves)
                continue
            roots[turn] = state
            if fresh:
                self._roots[state] = found.steps
                self._take_in(state, found.successors)
        return roots

    def _go_round(self) -> None:
        """
        Try all moves in all states, round after round, until nothing is left to try or a bound is met.
        """
        atlas, menu = self._atlas, self._menu.moves
        while time.monotonic() < self._began + self._searching:
            untried = [state for state, made in enumerate(atlas.successors) if len(made) < len(menu)]
            if not untried:
                return
            asked = [(atlas.ways[state], tuple(menu[len(atlas.successors[state]) :])) for state in untried]
            for state, found, (_, moves) in zip(
                untried, self._send(asked, self._searching), asked, strict=True
            ):
                if found is not None:
                    self._take_in(state, self._checked(state, found, len(moves)))

    def _checked(self, state: int, found: Expansion, number: int) -> Sequence[Successor]:
        """
        What came of some moves, if they were made in the state in which they should have been.
        """
        if found.digest and self._atlas.find(found.digest) == state:
            return found.successors
        return [Successor(fate="unknown", why=found.why or _AGAIN)] * number

    def _send(
        self, asked: Sequence[tuple[tuple[Act, ...], tuple[Move, ...]]], seconds: float
    ) -> list[Expansion | None]:
        until = time.time() + max(0.0, self._began + seconds - time.monotonic())
        errands = [replace(self._plain, way=way, moves=moves, until=until) for way, moves in asked]
        found: list[Expansion | None] = [None] * len(errands)
        for place, expansion in self._work(errands):
            found[place] = expansion
        return found

    def _take_in(self, state: int, successors: Sequence[Successor]) -> None:
        """
        Note what came of the next moves of a state, and what hooks named meanwhile.
        """
        made = self._atlas.successors[state]
        for arrival in successors:
            if arrival.fate == "state":
                self._atlas.enter(arrival.digest, (*self._atlas.ways[state], self._menu.moves[len(made)]))
            made.append(arrival)
            # Where nothing took place the move was not made.
            self._tried += bool(arrival.steps)
        for arrival in successors:
            self._menu.learn(arrival.steps)

    def _draw(self) -> Graph:
        # A move that was left out may be the one that leads to a stop.
        return self._atlas.draw(len(self._menu.moves) + bool(self._menu.missing))

    def _count_open(self) -> Mapping[str, int]:
        untried = INTERRUPTED if self.interrupted else LATE
        reasons = self._lost + self._atlas.count_open(len(self._menu.moves), self._menu.missing, untried)
        return {why: number for why, number in sorted(reasons.items()) if number}

    def _find_trap(self) -> TrapState | None:
        """
        The lock-out that is nearest to a beginning, after all of it was played once more.
        """
        atlas, menu = self._atlas, self._menu.moves
        lengths = {root: len(atlas.ways[root]) for root in self._roots}
        while True:
            graph = self._draw()
            found = nearest(graph, lengths, find_locked(graph))
            if found is None:
                return None
            root, path = found
            followed = [*atlas.follow(root, path)]
            state = followed[-1][0] if followed else root
            inside = sorted(find_reachable(graph, state))
            if self._confirm(inside):
                before = (act for act in atlas.ways[root] if not isinstance(act, hosts.EVENTS))
                return TrapState(
                    way=(*before, *(menu[move] for move in path)),
                    trace=_trace(self._roots[root], [arrival for _, arrival in followed]),
                    met=tuple(atlas.successors[state]),
                    holding=atlas.refusals(inside),
                    digest=atlas.digests[state],
                    states=len(inside),
                )

    def _confirm(self, states: Sequence[int]) -> bool:
        """
        Make all moves in some states once more, much later; what comes out otherwise is not known any longer.
        """
        moves, sure = tuple(self._menu.moves), True
        asked = [((*self._atlas.ways[state], _LATER), moves) for state in states]
        again = self._send(asked, self._seconds)
        for state, found in zip(states, again, strict=True):
            after = self._checked(state, found, len(moves)) if found is not None else ()
            for number, before in enumerate(self._atlas.successors[state]):
                now = after[number] if number < len(after) else None
                if now is None or (now.fate, now.digest) != (before.fate, before.digest):
                    self._atlas.doubt(state, number, _OTHERWISE)
                    sure = False
        return sure


def _trace(steps: Sequence[Step], successors: Sequence[Successor]) -> Trace:
    """
    What took place on a way, as one run.
    """
    told, first = [*steps], max((step.turn for step in steps), default=0)
    for turn, arrival in enumerate(successors, first + 1):
        told += [replace(step, turn=turn) for step in arrival.steps]
    return Trace(steps=tuple(replace(step, number=number) for number, step in enumerate(told, 1)))
