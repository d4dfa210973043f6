"""
Exploration: which states an agent with free choice can reach, and whether it can always stop.

Each round tries every untried move in every state that was found, until none is left or a limit is reached.
Within a round states are expanded at the same time. Results are added in the order of the tasks, so they do
not depend on the order of completion.
"""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.explore.candidate_moves import CandidateMoves, Suggestions
from pytest_hookharness.campaigns.explore.expansion import ExpandAll, ExpansionTask
from pytest_hookharness.campaigns.explore.state_graph import (
    Exit,
    Graph,
    StateGraph,
    find_nearest,
    find_path,
    find_reachable,
    find_stopping,
    find_traps,
)
from pytest_hookharness.campaigns.stress.first_run import ReplayScript
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
from pytest_hookharness.model.trace import Step, Trace
from pytest_hookharness.model.verdicts import Livelock
from pytest_hookharness.simulation.testbed.run_settings import Settings, SimulationError

# Candidate moves; a move that is left out counts as unknown in every state.
MOVE_LIMIT = 24
# Acts. After a longer run no way out of its loop is searched for, because each try repeats all acts.
_PATH_LIMIT = 60
# The share of the time for the search; the rest is for confirming what it found.
_SEARCH_SHARE = 0.75
_NOT_REACHED = "the same path, run again, led to another state"
_NOT_CONFIRMED = "run again at a later time, the move led to another state, or the time budget ended"
# A state that is left by waiting is not a trap state.
_LATER = Wait(seconds=365 * 24 * 3600.0)
# Other hours and days of the week.
_OTHER_TIMES = tuple(Wait(seconds=number * (86_400.0 + 3 * 3600 - 61)) for number in range(1, 8))


def check_explorable(scenario: Scenario) -> None:
    """
    Refuse to explore a scenario whose moves cannot be undone.

    Raises:
        SimulationError: The scenario has `explore`, and also `cover` or `processes`.
    """
    if scenario.explore is None or not (scenario.cover or scenario.processes):
        return
    key, why = (
        ("cover", "these folders are the developer's own")
        if scenario.cover
        else ("processes", "background processes run on")
    )
    raise SimulationError(f"explore: moves cannot be undone with `{key}`: {why}; remove one of the two keys")


def initial_path(script: Script) -> tuple[Act, ...]:
    """Return the acts before the agent's first move."""
    acts = (
        script.acts
        if any(isinstance(act, Prompt) for act in script.acts[:1])
        else (FIRST_PROMPT, *script.acts)
    )
    return tuple(itertools.takewhile(lambda act: isinstance(act, hosts.EVENTS), acts))


class Explorer:
    """One exploration; ``interrupted`` is true once Ctrl-C ended it."""

    def __init__(
        self,
        scenario: Scenario,
        settings: Settings,
        suggestions: Suggestions,
        expand_all: ExpandAll,
        *,
        seconds: float,
    ) -> None:
        """
        Prepare an exploration of some seconds of real time.

        Suggestions count if the scenario does not say what the agent can do.
        """
        options = scenario.explore or ExploreOptions()
        known = Suggestions(given=options.moves) if options.moves else suggestions
        self._candidates = CandidateMoves(known, limit=MOVE_LIMIT, fixed=bool(options.moves))
        # Tasks run a plain scenario: what it asks for besides is for the caller.
        self._plain = ExpansionTask(
            scenario=replace(
                scenario,
                origin=None,
                explore=None,
                vary=(),
                parallel=None,
                env={**_commit_dates(), **scenario.env},
            ),
            settings=replace(settings, probes=False, keep=False, base=None),
            path=(),
            moves=(),
            seconds=0.0,
        )
        self._expand_all = expand_all
        self._began = time.monotonic()
        self._seconds = seconds
        self._search_seconds = seconds * _SEARCH_SHARE
        self._graph = StateGraph(options.states)
        # The steps on the paths to the states from which the search starts.
        self._roots: dict[int, tuple[Step, ...]] = {}
        self._lost: Counter[str] = Counter()
        self._assumed: dict[str, None] = {}
        self._tried = 0
        self.interrupted = False

    def explore(self, outcome: Outcome) -> Exploration:
        """
        Explore from the start of a scenario, and from the loop that its own agent ran into, if there is one.

        Ctrl-C ends it early; moves that were under way stay unknown.
        """
        scenario = self._plain.scenario
        since = outcome.verdict.stem if isinstance(outcome.verdict, Livelock) else None
        paths = {-1: initial_path(scenario.script)}
        replay = ReplayScript.of(outcome.trace)
        if since is not None and len(path := replay.until(since + 1)) <= _PATH_LIMIT:
            paths[since] = path
        self._candidates.learn(outcome.trace.steps)
        starts: Mapping[int, int] = {}
        trap = None
        try:
            starts = self._find_starts(paths)
            self._search()
            trap = self._find_trap()
        except KeyboardInterrupt:
            self.interrupted = True
            self._lost[INTERRUPTED] += 1
        graph = self._targets()
        inside = starts.get(since) if since is not None else None
        escape = find_path(graph, inside, lambda target: target is Exit.STOP) if inside is not None else None
        return Exploration(
            candidates=tuple(self._candidates.moves),
            states=len(graph),
            tried=self._tried,
            stopping=len(find_stopping(graph)),
            open=self._count_open(),
            trap=trap,
            since=since if inside is not None else None,
            escape=tuple(self._candidates.moves[move] for move in escape or ()),
            wall=time.monotonic() - self._began,
            assumed=tuple(self._assumed),
        )

    def _find_starts(self, paths: Mapping[int, tuple[Act, ...]]) -> Mapping[int, int]:
        """Return the states at the ends of some paths, where the search starts, by the turn of each path."""
        moves = tuple(self._candidates.moves)
        roots: dict[int, int] = {}
        asked = [(path, moves) for path in paths.values()]
        for (turn, path), found in zip(paths.items(), self._expand(asked, self._search_seconds), strict=True):
            if found is None or not found.digest:
                self._lost[found.why if found is not None else LATE] += len(moves)
                continue
            fresh = self._graph.find(found.digest) is None
            state = self._graph.add(found.digest, path)
            if state is None:
                self._lost[BEYOND] += len(moves)
                continue
            roots[turn] = state
            self._assumed |= {found.assumed: None} if found.assumed else {}
            if fresh:
                self._roots[state] = found.steps
                self._add_successors(state, found.successors)
        return roots

    def _search(self) -> None:
        """Try all moves in all states, round after round, until none is left or the time for it is over."""
        graph, moves = self._graph, self._candidates.moves
        while time.monotonic() < self._began + self._search_seconds:
            open_states = [state for state, tried in enumerate(graph.successors) if len(tried) < len(moves)]
            if not open_states:
                return
            asked = [
                (graph.paths[state], tuple(moves[len(graph.successors[state]) :])) for state in open_states
            ]
            for state, found, (_, tried) in zip(
                open_states, self._expand(asked, self._search_seconds), asked, strict=True
            ):
                if found is not None:
                    self._add_successors(state, self._checked(state, found, len(tried)))

    def _checked(self, state: int, found: Expansion, number: int) -> Sequence[Successor]:
        """Return the successors of some moves; unknown ones if the path led to an unexpected state."""
        if found.digest and self._graph.find(found.digest) == state:
            return found.successors
        return [Successor(fate="unknown", why=found.why or _NOT_REACHED)] * number

    def _expand(
        self, asked: Sequence[tuple[tuple[Act, ...], tuple[Move, ...]]], seconds: float
    ) -> list[Expansion | None]:
        """Try moves at the ends of paths, until some seconds after the beginning of the exploration."""
        left = max(0.0, self._began + seconds - time.monotonic())
        tasks = [replace(self._plain, path=path, moves=moves, seconds=left) for path, moves in asked]
        found: list[Expansion | None] = [None] * len(tasks)
        for place, expansion in self._expand_all(tasks):
            found[place] = expansion
        return found

    def _add_successors(self, state: int, successors: Sequence[Successor]) -> None:
        """Add the successors of the next moves of a state, and the moves that hooks named meanwhile."""
        tried = self._graph.successors[state]
        for successor in successors:
            if successor.fate == "state":
                path = (*self._graph.paths[state], self._candidates.moves[len(tried)])
                self._graph.add(successor.digest, path)
            tried.append(successor)
            # Without steps the move was not made.
            self._tried += bool(successor.steps)
        for successor in successors:
            self._candidates.learn(successor.steps)

    def _targets(self) -> Graph:
        # One more move stands for all that were left out: it leads to `UNKNOWN`, and may be the way to a
        # stop.
        return self._graph.targets(len(self._candidates.moves) + bool(self._candidates.missing))

    def _count_open(self) -> Mapping[str, int]:
        untried = INTERRUPTED if self.interrupted else LATE
        reasons = self._lost + self._graph.count_open(
            len(self._candidates.moves), self._candidates.missing, untried
        )
        return {why: number for why, number in sorted(reasons.items()) if number}

    def _find_trap(self) -> TrapState | None:
        """Return the trap state that is nearest to a start, confirmed by a second run."""
        graph, moves = self._graph, self._candidates.moves
        lengths = {root: len(graph.paths[root]) for root in self._roots}
        while True:
            targets = self._targets()
            found = find_nearest(targets, lengths, find_traps(targets))
            if found is None:
                return None
            root, path = found
            followed = [*graph.follow(root, path)]
            state = followed[-1][0] if followed else root
            inside = sorted(find_reachable(targets, state))
            if not self._confirm(inside):
                continue
            before = (act for act in graph.paths[root] if not isinstance(act, hosts.EVENTS))
            return TrapState(
                path=(*before, *(moves[move] for move in path)),
                trace=_trace(self._roots[root], [successor for _, successor in followed]),
                met=tuple(graph.successors[state]),
                holding=graph.refusals(inside),
                digest=graph.digests[state],
                states=len(inside),
            )

    def _confirm(self, states: Sequence[int]) -> bool:
        """
        Try all moves in some states again, a year later; return whether all results are the same.

        If time is left, also try them at seven other times. A move with another result becomes unknown, so
        that the next search for a trap state does not rely on it.
        """
        if not self._confirm_after(_LATER, states):
            return False
        for wait in _OTHER_TIMES:
            if time.monotonic() > self._began + self._search_seconds:
                break
            if not self._confirm_after(wait, states, must_play=False):
                return False
        return True

    def _confirm_after(self, wait: Wait, states: Sequence[int], *, must_play: bool = True) -> bool:
        """
        Try all moves in some states after a wait; return whether all results are the same.

        An unknown result is a difference only with ``must_play``.
        """
        moves, confirmed = tuple(self._candidates.moves), True
        asked = [((*self._graph.paths[state], wait), moves) for state in states]
        repeated = self._expand(asked, self._seconds)
        for state, found in zip(states, repeated, strict=True):
            after = self._checked(state, found, len(moves)) if found is not None else ()
            for number, before in enumerate(self._graph.successors[state]):
                now = after[number] if number < len(after) else None
                if now is None or now.fate == "unknown":
                    differs = must_play or (now is not None and now.why == _NOT_REACHED)
                else:
                    differs = (now.fate, now.digest) != (before.fate, before.digest)
                if differs:
                    self._graph.retract(state, number, _NOT_CONFIRMED)
                    confirmed = False
        return confirmed


def _commit_dates() -> dict[str, str]:
    """Return variables that give all commits one date, so that a path leads to the same commits again."""
    now = f"{int(time.time())} +0000"
    return {"GIT_AUTHOR_DATE": now, "GIT_COMMITTER_DATE": now}


def _trace(steps: Sequence[Step], successors: Sequence[Successor]) -> Trace:
    """Return the steps on a path as one run."""
    joined, first = [*steps], max((step.turn for step in steps), default=0)
    for turn, successor in enumerate(successors, first + 1):
        joined += [replace(step, turn=turn) for step in successor.steps]
    return Trace(steps=tuple(replace(step, number=number) for number, step in enumerate(joined, 1)))
