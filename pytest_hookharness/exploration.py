"""
This module is concerned with exploration: what a free agent can bring about, state by state.

Upper floor, above excursions. Rounds go on until every move was tried in every state that was found, or a
bound is met. Within a round all states are tried side by side by whoever takes the errands; what they bring
back is put together in the order in which it was asked for, so that it does not matter who was first.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import replace
from typing import TypeAlias

from pytest_hookharness import hosts
from pytest_hookharness.excursions import Errand, expand_apart
from pytest_hookharness.judging.reachability import (
    Exit,
    Graph,
    Target,
    find_locked,
    find_reachable,
    find_stopping,
    find_way,
    nearest,
)
from pytest_hookharness.menus import Menu
from pytest_hookharness.model.exploration import Arrival, Expansion, Exploration, Exploring, Trap
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Move, Prompt, Script
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Fire, Happened, Moved, Step, Trace
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.settings import Settings

# Gives what came of errands, each with its place among them, as soon as it is there.
Work: TypeAlias = Callable[[Sequence[Errand]], Iterable[tuple[int, Expansion]]]
# Moves on a menu; one that was left out is open in every state.
MOST_MOVES = 24
# Acts of a run after which no way out of its loop is looked for, because each try plays them again.
_LONGEST_WAY = 60
# What is found must be played once more, so it gets only this part of the time.
_SEARCHING = 0.75
_AGAIN = "the way there, played again, led elsewhere"
_UNTRIED = "not tried, because a bound was met"
_BEYOND = "leads to one state more than may be tried"
_LEFT = "named after there were enough moves"


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

    def work(errands: Sequence[Errand]) -> Iterable[tuple[int, Expansion]]:
        places = {executor.submit(expand_apart, errand): place for place, errand in enumerate(errands)}
        for future in as_completed(places):
            yield places[future], future.result()

    return work


class Explorer:
    """
    One exploration under way.
    """

    def __init__(
        self, scenario: Scenario, settings: Settings, moves: Iterable[Move], work: Work, *, seconds: float
    ) -> None:
        """
        Make ready to explore.

        Args:
            scenario: What is played.
            settings: The settings of the run.
            moves: What the agent can do, if the scenario does not say.
            work: Who tries the moves.
            seconds: Real time for all of it.
        """
        wish = scenario.explore or Exploring()
        self._bounds = wish
        self._menu = Menu(wish.moves or moves, most=MOST_MOVES, fixed=bool(wish.moves))
        # What is asked for is explored by whoever asks; the errand itself is a plain scenario.
        self._plain = Errand(
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
        self._places: dict[str, int] = {}
        self._ways: list[tuple[Act, ...]] = []
        self._arrivals: list[list[Arrival]] = []
        self._roots: dict[int, tuple[Act, ...]] = {}
        self._steps: dict[int, tuple[Step, ...]] = {}
        self._lost: Counter[str] = Counter()
        self._tried = 0

    def explore(self, outcome: Outcome) -> Exploration:
        """
        Explore from the beginning of a scenario, and from the loop that its own agent ran into, if it did.
        """
        scenario = self._plain.scenario
        since = outcome.verdict.stem if isinstance(outcome.verdict, Livelock) else None
        ways = {-1: first_way(scenario.script)}
        if since is not None and len(way := way_to(outcome, since)) <= _LONGEST_WAY:
            ways[since] = way
        self._menu.learn(outcome.trace.steps)
        beginnings = self._begin(ways)
        self._go_round()
        trap = self._find_trap()
        graph = self._graph
        inside = beginnings.get(since) if since is not None else None
        escape = find_way(graph, inside, lambda target: target is Exit.STOP) if inside is not None else None
        return Exploration(
            menu=tuple(self._menu.moves),
            states=len(graph),
            tried=self._tried,
            stopping=len(find_stopping(graph)),
            open=self._open,
            trap=trap,
            since=since,
            escape=tuple(self._menu.moves[move] for move in escape or ()),
            wall=time.monotonic() - self._began,
        )

    def _begin(self, ways: dict[int, tuple[Act, ...]]) -> dict[int | None, int]:
        """
        The states at the ends of some ways, which are the roots of all others.
        """
        moves = tuple(self._menu.moves)
        places: dict[int | None, int] = {}
        for (turn, way), found in zip(
            ways.items(), self._send([(way, moves) for way in ways.values()], self._searching), strict=True
        ):
            if found is None or not found.digest:
                self._lost[found.why if found is not None else _UNTRIED] += len(moves)
                continue
            place = self._place(found.digest, way)
            if place is None:
                continue
            places[turn] = place
            if place not in self._roots:
                self._roots[place] = way
                self._steps[place] = found.steps
                self._take_in(place, found.arrivals)
        return places

    def _go_round(self) -> None:
        """
        Try all moves in all states, round after round, until nothing is left to try or a bound is met.
        """
        while time.monotonic() < self._began + self._searching:
            number = len(self._menu.moves)
            untried = [place for place, made in enumerate(self._arrivals) if len(made) < number]
            if not untried:
                return
            asked = [
                (self._ways[place], tuple(self._menu.moves[len(self._arrivals[place]) :]))
                for place in untried
            ]
            for place, found, (_, moves) in zip(
                untried, self._send(asked, self._searching), asked, strict=True
            ):
                if found is not None:
                    self._take_in(place, self._checked(place, found, len(moves)))

    def _checked(self, place: int, found: Expansion, number: int) -> Sequence[Arrival]:
        if found.digest and self._places.get(found.digest) == place:
            return found.arrivals
        return [Arrival(fate="unknown", why=found.why or _AGAIN)] * number

    def _send(
        self, asked: Sequence[tuple[tuple[Act, ...], tuple[Move, ...]]], seconds: float
    ) -> list[Expansion | None]:
        until = time.time() + max(0.0, self._began + seconds - time.monotonic())
        errands = [replace(self._plain, way=way, moves=moves, until=until) for way, moves in asked]
        found: list[Expansion | None] = [None] * len(errands)
        for place, expansion in self._work(errands):
            found[place] = expansion
        return found

    def _take_in(self, place: int, arrivals: Sequence[Arrival]) -> None:
        """
        Note what came of the next moves of a state, and what hooks named meanwhile.
        """
        for arrival in arrivals:
            move = self._menu.moves[len(self._arrivals[place])]
            self._arrivals[place].append(arrival)
            self._tried += 1
            if arrival.fate == "state":
                self._place(arrival.digest, (*self._ways[place], move))
        for arrival in arrivals:
            self._menu.learn(arrival.steps)

    def _place(self, digest: str, way: tuple[Act, ...]) -> int | None:
        """
        The place of a state, which is a new one if it was not seen yet; ``None`` if there are enough.
        """
        if digest not in self._places:
            if len(self._ways) >= self._bounds.states:
                return None
            self._places[digest] = len(self._ways)
            self._ways.append(way)
            self._arrivals.append([])
        return self._places[digest]

    @property
    def _graph(self) -> Graph:
        """
        What each move leads to in each state; what was not tried leads to what is not known.
        """
        missing = Exit.UNKNOWN
        number = len(self._menu.moves) + bool(self._menu.left)
        return [[*map(self._target, made), *[missing] * (number - len(made))] for made in self._arrivals]

    def _target(self, arrival: Arrival) -> Target:
        match arrival.fate:
            case "state":
                return self._places.get(arrival.digest, Exit.UNKNOWN)
            case "stopped":
                return Exit.STOP
            case "held":
                return Exit.HELD
            case "unknown":
                return Exit.UNKNOWN

    @property
    def _open(self) -> dict[str, int]:
        """
        How many moves lead to what is not known, by the reason.
        """
        reasons = Counter(self._lost)
        for made in self._arrivals:
            reasons.update(arrival.why for arrival in made if arrival.fate == "unknown")
            reasons[_BEYOND] += sum(
                arrival.fate == "state" and arrival.digest not in self._places for arrival in made
            )
            reasons[_UNTRIED] += len(self._menu.moves) - len(made)
            reasons[_LEFT] += self._menu.left
        return {why: number for why, number in sorted(reasons.items()) if number}

    def _find_trap(self) -> Trap | None:
        """
        The lock-out that is nearest to a beginning, after all of it was played once more.
        """
        while found := nearest(self._graph, self._lengths, find_locked(self._graph)):
            root, path = found
            place = self._follow(root, path)
            inside = sorted(find_reachable(self._graph, place))
            if self._confirm(inside):
                moves = [self._menu.moves[move] for move in path]
                before = tuple(act for act in self._roots[root] if not isinstance(act, hosts.EVENTS))
                return Trap(
                    way=(*before, *moves),
                    trace=self._trace(root, path),
                    met=tuple(self._arrivals[place]),
                    holding=tuple(self._find_holding(inside)),
                    digest=next(digest for digest, known in self._places.items() if known == place),
                    states=len(inside),
                )
        return None

    @property
    def _lengths(self) -> dict[int, int]:
        return {root: len(way) for root, way in self._roots.items()}

    def _follow(self, root: int, path: Sequence[int]) -> int:
        place = root
        for move in path:
            place = self._places[self._arrivals[place][move].digest]
        return place

    def _find_holding(self, places: Iterable[int]) -> Iterable[Fire]:
        arrivals = (arrival for place in places for arrival in self._arrivals[place])
        fires = (fire for arrival in arrivals for fire in arrival.refusals)
        return {(fire.hook.event, fire.hook.command): fire for fire in fires}.values()

    def _confirm(self, places: Sequence[int]) -> bool:
        """
        Play all moves in some states once more; whatever comes out otherwise is not known any longer.
        """
        moves = tuple(self._menu.moves)
        sure = True
        again = self._send([(self._ways[place], moves) for place in places], self._seconds)
        for place, found in zip(places, again, strict=True):
            arrivals = self._checked(place, found, len(moves)) if found is not None else ()
            for number, before in enumerate(self._arrivals[place]):
                after = arrivals[number] if number < len(arrivals) else None
                if after is None or (after.fate, after.digest) != (before.fate, before.digest):
                    why = "the same move, made again, led elsewhere" if after is not None else _UNTRIED
                    self._arrivals[place][number] = Arrival(fate="unknown", why=why, steps=before.steps)
                    sure = False
        return sure

    def _trace(self, root: int, path: Sequence[int]) -> Trace:
        """
        What took place on a way, as one run.
        """
        steps = [*self._steps[root]]
        place, turn = root, max((step.turn for step in steps), default=0)
        for move in path:
            arrival = self._arrivals[place][move]
            turn += 1
            steps += [replace(step, turn=turn) for step in arrival.steps]
            place = self._places[arrival.digest]
        return Trace(steps=tuple(replace(step, number=number) for number, step in enumerate(steps, 1)))
