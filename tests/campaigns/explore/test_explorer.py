"""
The explorer on machines that are given as tables: rounds, bounds, and what makes a lock-out sure.
"""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.explore.candidate_moves import Suggestions
from pytest_hookharness.campaigns.explore.explorer import Explorer, initial_path, path_to
from pytest_hookharness.model.exploration import INTERRUPTED, Expansion, ExploreOptions, Successor
from pytest_hookharness.model.moves import FIRST_PROMPT, Prompt, RunCommand, Script, Stop, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Step, Trace
from pytest_hookharness.model.verdicts import Livelock, Terminated
from pytest_hookharness.reports.terminal.exploration_report import conclusion_of
from pytest_hookharness.simulation.testbed.run_settings import Settings

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
# By state: what a stop leads to, then each command. "end" is a stop that was allowed.
LOCKING = {"open": {"stop": "end", "lock": "locked"}, "locked": {"stop": "locked", "lock": "locked"}}
OPENING = {**LOCKING, "locked": {"stop": "locked", "lock": "locked", "key": "open"}}


def step(exchange, turn=1):
    """One step of a trace."""
    return Step(number=1, turn=turn, exchange=exchange)


class Machine:
    """
    A machine that stands for hooks and workspace.

    Attributes:
        asked: How many errands there were.
    """

    def __init__(self, table, *, says=None, order=0, forgets=10**6):
        self.table, self.says, self.asked = table, says or {}, 0
        self.order = order
        # After so many errands moves lead elsewhere.
        self.forgets = forgets

    def work(self, errands):
        """What comes of errands, in any order."""
        done = [*enumerate(map(self.expand, errands))]
        turned = self.order % len(done)
        return [*reversed([*done[turned:], *done[:turned]])] if self.order else done

    def expand(self, errand):
        """What comes of one errand."""
        self.asked += 1
        state = "open"
        for act in errand.path:
            state = state if isinstance(act, Prompt | Wait) else self.follow(state, act)
        return Expansion(digest=state, successors=tuple(self.make(state, move) for move in errand.moves))

    def follow(self, state, move):
        """The state that a move leads to."""
        name = "stop" if isinstance(move, Stop) else move.command
        return self.table[state].get(name, state)

    def make(self, state, move):
        """What one move comes to."""
        target = "open" if self.asked > self.forgets else self.follow(state, move)
        said = self.says.get(state)
        decision = Decision(event="Stop", reasons=(said,) if said else (), rule=RULE, refused=bool(said))
        steps = (step(Moved(move=move)), step(HookEvent(event="Stop", decision=decision)))
        if target == "end":
            return Successor(fate="stopped", steps=steps)
        if target == "odd":
            return Successor(fate="unknown", why="it is odd", steps=steps)
        return Successor(fate="state", digest=target, steps=steps)


def explore(machine, commands=("lock",), verdict=None, steps=(), **bounds):
    """Explore a machine with some commands beside a stop."""
    wish = ExploreOptions(**bounds)
    scenario = Scenario(name="test", explore=wish)
    played = verdict or Terminated(turn=1)
    outcome = Outcome(scenario=scenario, host="h", trace=Trace(steps=tuple(steps)), verdict=played)
    moves = [Stop(), *(RunCommand(command=command) for command in commands)]
    suggestions = Suggestions(given=tuple(moves))
    return Explorer(scenario, Settings(), suggestions, machine.work, seconds=wish.seconds).explore(outcome)


def test_a_lock_out_is_found_with_the_shortest_way_in():
    """The way into the lock-out is told with what took place on it, and each move was made twice there."""
    machine = Machine(LOCKING)
    explored = explore(machine)

    assert explored.trap is not None
    assert explored.trap.way == (RunCommand(command="lock"),)
    assert [one.exchange.move for one in explored.trap.trace.steps if isinstance(one.exchange, Moved)] == [
        RunCommand(command="lock")
    ]
    assert (explored.trap.states, explored.states, explored.tried, explored.stopping) == (1, 2, 4, 1)
    assert explored.covered
    assert machine.asked == 3


def test_a_move_that_leads_out_is_no_lock_out():
    """With one more move that leads back, every state can stop."""
    explored = explore(Machine(OPENING), ("lock", "key"))

    assert explored.trap is None
    assert explored.covered
    assert explored.stopping == explored.states == 2


def test_a_move_that_is_named_on_the_way_counts_everywhere():
    """A remedy that a refusal names is tried in all states, those that were tried before included."""
    table = {**LOCKING, "locked": {"stop": "locked", "./key": "open"}}
    freed = explore(Machine(table, says={"locked": "Run `./key` or so."}))

    assert freed.candidates == (Stop(), RunCommand(command="lock"), RunCommand(command="./key"))
    assert freed.trap is None
    assert explore(Machine(table)).trap is not None


@pytest.mark.parametrize("errands", [1, 2, 3])
def test_an_interruption_leaves_open_what_it_ended(errands):
    """Ctrl-C during a search, or while a lock-out is made sure, claims nothing and is told as the reason."""
    machine = Machine(LOCKING)

    def interrupted(asked):
        if machine.asked + len(asked) >= errands:
            raise KeyboardInterrupt
        return machine.work(asked)

    explorer = Explorer(
        Scenario(name="test", explore=ExploreOptions()),
        Settings(),
        Suggestions(given=(Stop(), RunCommand(command="lock"))),
        interrupted,
        seconds=30,
    )
    explored = explorer.explore(
        Outcome(scenario=Scenario(name="test"), host="h", trace=Trace(), verdict=Terminated(turn=1))
    )

    assert explorer.interrupted
    assert explored.trap is None
    assert not explored.covered
    assert INTERRUPTED in explored.open
    assert conclusion_of(explored).endswith("it was interrupted")


def test_what_is_not_known_is_no_lock_out():
    """A move whose outcome is not known keeps the verdict open, and its reason is told."""
    table = {**LOCKING, "locked": {"stop": "odd"}}
    explored = explore(Machine(table))

    assert explored.trap is None
    assert explored.open == {"it is odd": 1}


def test_only_moves_that_were_made_are_counted():
    """Where the way to a state could not be played again, no move was tried in it."""

    class Losing(Machine):
        def expand(self, errand):
            found = super().expand(errand)
            return found if found.digest == "open" else Expansion(digest="", why="it was lost")

    explored = explore(Losing(LOCKING))

    assert (explored.states, explored.tried) == (2, 2)
    assert explored.open == {"it was lost": 2}


def test_states_beyond_the_bound_are_open():
    """A machine that only counts has always one more state, so nothing is claimed and the bound is told."""
    table = {"open": {"lock": "1"}, **{str(n): {"lock": str(n + 1)} for n in range(1, 50)}}
    explored = explore(Machine(table), states=5)

    assert explored.states == 5
    assert explored.trap is None
    assert [*explored.open.values()] == [1]


def test_moves_that_were_not_tried_are_open():
    """Without time nothing is tried, and nothing is claimed."""
    explored = explore(Machine(LOCKING), seconds=0.0)

    assert explored.trap is None
    assert not explored.covered


def test_a_lock_out_that_does_not_come_again_is_none():
    """Where a move leads elsewhere the second time, there is no lock-out and the reason is told."""
    explored = explore(Machine(LOCKING, forgets=2))

    assert explored.trap is None
    assert explored.open == {
        "run again, a year later, the move led to another state, or the time budget ended": 2
    }


def test_more_moves_than_are_tried_leave_all_open():
    """A menu with moves left out proves nothing, for one of them may lead to a stop."""
    explored = explore(Machine(LOCKING), ("lock", *(f"other-{number}" for number in range(40))))

    assert explored.trap is None
    assert len(explored.candidates) == 24
    assert sum(explored.open.values()) == 2 * 18


@pytest.mark.parametrize("order", range(1, 6))
def test_the_order_of_the_work_does_not_matter(order):
    """Whoever comes back first, the same is found."""
    names = "abcdefgh"
    table = {"open": {"stop": "end", **{name: name for name in names}}}
    table |= {name: {name: "open", "stop": name, "a": "h"} for name in names[:-1]}
    table["h"] = {"stop": "h"}
    plain, shuffled = (explore(Machine(table, order=one), tuple(names)) for one in (0, order))

    assert replace(plain, wall=0.0) == replace(shuffled, wall=0.0)
    assert plain.trap is not None


def test_the_way_out_of_a_loop_begins_in_the_loop():
    """For an agent that stops again and again in a locked state, the moves that would free it are told."""
    acts = [Happened(event=FIRST_PROMPT), Moved(move=RunCommand(command="lock")), Moved(move=Stop())]
    steps = [step(exchange, turn) for turn, exchange in enumerate(acts)]
    explored = explore(Machine(OPENING), ("lock", "key"), Livelock(stem=1, period=1), steps)

    assert explored.since == 1
    assert explored.escape == (RunCommand(command="key"), Stop())


def test_a_loop_that_only_its_own_agent_reaches_is_explored_too():
    """What lies behind a bound of the exploration is explored if a played loop leads there."""
    table = {"open": {"stop": "end", "far": "locked"}, "locked": {"stop": "locked"}}
    acts = [Happened(event=FIRST_PROMPT), Moved(move=RunCommand(command="far"))]
    steps = [step(exchange, turn) for turn, exchange in enumerate(acts)]
    explored = explore(Machine(table), (), Livelock(stem=1, period=1), steps)

    assert explored.trap is not None
    assert explored.trap.way == (RunCommand(command="far"),)


def test_what_comes_before_the_first_move_is_played_first():
    """A script's prompts and waits come before the exploration, and one without a prompt is given one."""
    acts = (Prompt(text="a"), Wait(seconds=1.0), Stop(), Prompt(text="b"))

    assert initial_path(Script(acts=acts)) == acts[:2]
    assert initial_path(Script()) == (FIRST_PROMPT,)


def test_a_way_to_a_turn_is_all_that_was_done():
    """Moves and events up to a turn are the way to it."""
    acts = [Happened(event=FIRST_PROMPT), Moved(move=Stop()), Moved(move=RunCommand(command="x"))]
    steps = tuple(step(exchange, turn) for turn, exchange in enumerate(acts))
    outcome = Outcome(
        scenario=Scenario(name="a"), host="h", trace=Trace(steps=steps), verdict=Terminated(turn=2)
    )

    assert path_to(outcome, 1) == (FIRST_PROMPT, Stop())
