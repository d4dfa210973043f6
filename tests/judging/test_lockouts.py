"""
What an exploration means for the verdict, and which promises are judged anew.
"""

import pytest

from pytest_hookharness.judging.verdict.conclusion import judge_explored
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.exploration import Exploration, TrapState
from pytest_hookharness.model.moves import Edit, Read, RunCommand, Stop, Subagent, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Livelock, Lockout, Terminated, Undecided, Violation

MENU = (Stop(), RunCommand(command="./check"))
TRAP = TrapState(way=MENU[1:], trace=Trace(), met=(), holding=(), digest="d", states=2)
ENDED, LOOP = Terminated(turn=1), Livelock(stem=1, period=1)


def judged(verdict, *, broken=(), expect=None, **found):
    """The outcome of a run with a verdict, and of an exploration that found something."""
    explored = Exploration(candidates=MENU, states=3, tried=6, stopping=1, **found)
    scenario = Scenario(name="a", expect=expect or Expectation())
    outcome = Outcome(scenario=scenario, host="h", trace=Trace(), verdict=verdict, violations=broken)
    return judge_explored(outcome, explored)


@pytest.mark.parametrize(
    "verdict,found,name",
    [
        (ENDED, {"trap": TRAP}, "lockout"),
        (LOOP, {"trap": TRAP}, "lockout"),
        (ENDED, {}, "terminated"),
        (LOOP, {"since": 1, "escape": MENU}, "livelock"),
        (ENDED, {"open": {"not tried": 2}}, "undecided"),
        (LOOP, {"open": {"not tried": 2}}, "livelock"),
        (Undecided(turn=3, why="no end"), {}, "undecided"),
    ],
)
def test_the_verdict_follows_from_both(verdict, found, name):
    """A lock-out outweighs what one agent did; what is open outweighs only that this one could stop."""
    assert judged(verdict, **found).verdict_name == name


def test_a_lock_out_says_of_which_moves_and_on_what_it_rests():
    """A lock-out names the menu and its turn, and that there are no other moves is an assumption."""
    outcome = judged(ENDED, trap=TRAP)

    assert outcome.verdict == Lockout(turn=1, moves=MENU)
    assert outcome.assumptions[0] == "The agent has no other moves than those that were given."


def test_what_is_open_is_told_by_number_and_reason():
    """An exploration that did not come to its end says how many moves are open, and why."""
    outcome = judged(ENDED, open={"not tried": 2, "too late": 1})

    assert isinstance(outcome.verdict, Undecided)
    assert "3 lead to what is not known (not tried: 2; too late: 1)" in outcome.verdict.why


def test_promises_about_the_verdict_are_judged_anew():
    """A promise of a lock-out that the played run broke is kept by the exploration; others stay broken."""
    broken = tuple(
        Violation(path=f"expect.{name}", expected="", seen="") for name in ("verdict", "way_in", "files")
    )
    expect = Expectation(verdict="lockout", way_in=(RunCommand(command="./check", label="expect.way_in[0]"),))

    kept = judged(ENDED, trap=TRAP, broken=broken, expect=expect)
    assert [violation.path for violation in kept.violations] == ["expect.files"]
    freed = judged(ENDED, broken=broken, expect=expect)
    assert [violation.path for violation in freed.violations] == [
        "expect.verdict",
        "expect.way_in",
        "expect.files",
    ]


def test_ways_that_are_others_are_told_move_by_move():
    """A promised way out that is another is told with both, by the words of scenario files."""
    call = Tools(calls=(ToolCall(name="A", input={}), ToolCall(name="B", input={})))
    way = (Edit(file="a", text=""), Read(file="b"), Subagent(), call, Stop(text="Go."))
    (broken,) = judged(LOOP, since=1, escape=MENU, expect=Expectation(way_out=way)).violations

    assert broken.expected == "edit: a, read: b, subagent: general-purpose, tool: A and B, stop: Go."
    assert broken.seen == "stop: Done., run: ./check"
    (broken,) = judged(ENDED, expect=Expectation(way_in=())).violations
    assert (broken.expected, broken.seen) == ("no move at all", "no way is known")
