"""The explorer on machines that are given as tables: rounds, limits, and confirmed trap states."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.explore.candidate_moves import Suggestions
from pytest_hookharness.campaigns.explore.explorer import Explorer, initial_path
from pytest_hookharness.campaigns.stress.first_run import ReplayScript
from pytest_hookharness.model.exploration import INTERRUPTED, Expansion, ExploreOptions, Successor
from pytest_hookharness.model.moves import FIRST_PROMPT, Prompt, RunCommand, Script, Stop, Wait
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Basis, Decision, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, HookEvent, Moved, Step, Trace
from pytest_hookharness.model.verdicts import Livelock, Terminated
from pytest_hookharness.reports.terminal.campaign_report import conclusion_of
from pytest_hookharness.simulation.testbed.run_settings import Settings

RULE = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
# By state: what a stop leads to, then each command. "end" is a stop that was allowed.
LOCKING = {"open": {"stop": "end", "lock": "locked"}, "locked": {"stop": "locked", "lock": "locked"}}
OPENING = {**LOCKING, "locked": {"stop": "locked", "lock": "locked", "key": "open"}}


def step(exchange, turn=1):
    """Return one step of a trace."""
    return Step(number=1, turn=turn, exchange=exchange)


class Machine:
    """
    Machine that replaces hooks and workspace.

    Attributes:
        asked: The number of tasks it was given.
    """

    def __init__(self, table, *, says=None, order=0, forgets=10**6):
        self.table, self.says, self.asked = table, says or {}, 0
        self.order = order
        # After this many tasks moves lead to other states.
        self.forgets = forgets

    def expand_all(self, tasks):
        """Return the results of tasks, in any order."""
        done = [*enumerate(map(self.expand, tasks))]
        turned = self.order % len(done)
        return [*reversed([*done[turned:], *done[:turned]])] if self.order else done

    def expand(self, task):
        """Return the result of one task."""
        self.asked += 1
        state = "open"
        for act in task.path:
            state = state if isinstance(act, Prompt | Wait) else self.follow(state, act)
        return Expansion(digest=state, successors=tuple(self.make(state, move) for move in task.moves))

    def follow(self, state, move):
        """Return the state that a move leads to."""
        name = "stop" if isinstance(move, Stop) else move.command
        return self.table[state].get(name, state)

    def make(self, state, move):
        """Return the successor of one move."""
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
    options = ExploreOptions(**bounds)
    scenario = Scenario(name="test", explore=options)
    played = verdict or Terminated(turn=1)
    outcome = Outcome(scenario=scenario, host="h", trace=Trace(steps=tuple(steps)), verdict=played)
    moves = [Stop(), *(RunCommand(command=command) for command in commands)]
    suggestions = Suggestions(given=tuple(moves))
    return Explorer(scenario, Settings(), suggestions, machine.expand_all, seconds=options.seconds).explore(
        outcome
    )


def test_a_trap_state_is_found_with_the_shortest_path():
    """The path into the trap state is reported with its steps; each move was made there nine times."""
    machine = Machine(LOCKING)
    explored = explore(machine)

    assert explored.trap is not None
    assert explored.trap.path == (RunCommand(command="lock"),)
    assert [one.exchange.move for one in explored.trap.trace.steps if isinstance(one.exchange, Moved)] == [
        RunCommand(command="lock")
    ]
    assert (explored.trap.states, explored.states, explored.tried, explored.stopping) == (1, 2, 4, 1)
    assert explored.covered
    # From the start, then from the trap state: once in the search, a year later, and at seven other times.
    assert machine.asked == 2 + 1 + 7


def test_a_state_with_a_move_that_leads_out_is_no_trap():
    """With one more move that leads back, every state can stop."""
    explored = explore(Machine(OPENING), ("lock", "key"))

    assert explored.trap is None
    assert explored.covered
    assert explored.stopping == explored.states == 2


def test_a_move_that_is_named_later_is_tried_everywhere():
    """A remedy that a refusal names is tried in all states, including those that were tried before."""
    table = {**LOCKING, "locked": {"stop": "locked", "./key": "open"}}
    freed = explore(Machine(table, says={"locked": "Run `./key` or so."}))

    assert freed.candidates == (Stop(), RunCommand(command="lock"), RunCommand(command="./key"))
    assert freed.trap is None
    assert explore(Machine(table)).trap is not None


@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_an_interruption_leaves_open_what_it_ended(tasks):
    """Ctrl-C, also while a trap state is confirmed, claims nothing and is given as the reason."""
    machine = Machine(LOCKING)

    def interrupted(asked):
        if machine.asked + len(asked) >= tasks:
            raise KeyboardInterrupt
        return machine.expand_all(asked)

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


def test_an_unknown_successor_makes_no_trap():
    """A move with an unknown successor keeps the verdict open, and its reason is given."""
    table = {**LOCKING, "locked": {"stop": "odd"}}
    explored = explore(Machine(table))

    assert explored.trap is None
    assert explored.open == {"it is odd": 1}


def test_only_moves_that_were_made_are_counted():
    """If the path to a state could not be followed again, no move was tried in it."""

    class Losing(Machine):
        def expand(self, task):
            found = super().expand(task)
            return found if found.digest == "open" else Expansion(digest="", why="it was lost")

    explored = explore(Losing(LOCKING))

    assert (explored.states, explored.tried) == (2, 2)
    assert explored.open == {"it was lost": 2}


def test_states_beyond_the_limit_are_open():
    """A machine that only counts always has one more state, so nothing is claimed and the limit is given."""
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


def test_an_unconfirmed_trap_is_none():
    """If a move leads to another state the second time, there is no trap state and the reason is given."""
    explored = explore(Machine(LOCKING, forgets=2))

    assert explored.trap is None
    assert explored.open == {
        "run again at a later time, the move led to another state, or the time budget ended": 2
    }


def test_more_moves_than_are_tried_leave_all_open():
    """An exploration with moves left out proves nothing, because one of them may lead to a stop."""
    explored = explore(Machine(LOCKING), ("lock", *(f"other-{number}" for number in range(40))))

    assert explored.trap is None
    assert len(explored.candidates) == 24
    assert sum(explored.open.values()) == 2 * 18


@pytest.mark.parametrize("order", range(1, 6))
def test_the_order_of_the_work_does_not_matter(order):
    """Results do not depend on completion order."""
    names = "abcdefgh"
    table = {"open": {"stop": "end", **{name: name for name in names}}}
    table |= {name: {name: "open", "stop": name, "a": "h"} for name in names[:-1]}
    table["h"] = {"stop": "h"}
    plain, shuffled = (explore(Machine(table, order=one), tuple(names)) for one in (0, order))

    assert replace(plain, wall=0.0) == replace(shuffled, wall=0.0)
    assert plain.trap is not None


def test_the_escape_from_a_loop_begins_in_the_loop():
    """For an agent that always stops in a trap state, the moves that would free it are reported."""
    acts = [Happened(event=FIRST_PROMPT), Moved(move=RunCommand(command="lock")), Moved(move=Stop())]
    steps = [step(exchange, turn) for turn, exchange in enumerate(acts)]
    explored = explore(Machine(OPENING), ("lock", "key"), Livelock(stem=1, period=1), steps)

    assert explored.since == 1
    assert explored.escape == (RunCommand(command="key"), Stop())


def test_a_loop_that_only_its_own_agent_reaches_is_explored_too():
    """States beyond a limit of the exploration are explored if a loop of the run leads there."""
    table = {"open": {"stop": "end", "far": "locked"}, "locked": {"stop": "locked"}}
    acts = [Happened(event=FIRST_PROMPT), Moved(move=RunCommand(command="far"))]
    steps = [step(exchange, turn) for turn, exchange in enumerate(acts)]
    explored = explore(Machine(table), (), Livelock(stem=1, period=1), steps)

    assert explored.trap is not None
    assert explored.trap.path == (RunCommand(command="far"),)


def test_what_comes_before_the_first_move_is_done_first():
    """A script's prompts and waits come before the exploration, and one without a prompt gets one."""
    acts = (Prompt(text="a"), Wait(seconds=1.0), Stop(), Prompt(text="b"))

    assert initial_path(Script(acts=acts)) == acts[:2]
    assert initial_path(Script()) == (FIRST_PROMPT,)


def test_the_path_to_a_turn_is_all_that_was_done():
    """Moves and events up to a turn are the path to it."""
    acts = [Happened(event=FIRST_PROMPT), Moved(move=Stop()), Moved(move=RunCommand(command="x"))]
    steps = tuple(step(exchange, turn) for turn, exchange in enumerate(acts))

    assert ReplayScript.of(Trace(steps=steps)).until(2) == (FIRST_PROMPT, Stop())
