"""What an exploration means for the verdict, and which expectations are checked again."""

import pytest

from pytest_hookharness.judging.verdict.conclusion import judge_explored
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.exploration import Exploration, TrapState
from pytest_hookharness.model.moves import Edit, Read, RunCommand, Stop, Subagent, ToolCall, Tools
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Livelock, Lockout, Terminated, Undecided, Violation

MOVES = (Stop(), RunCommand(command="./check"))
TRAP = TrapState(path=MOVES[1:], trace=Trace(), met=(), holding=(), digest="d", states=2)
ENDED, LOOP = Terminated(turn=1), Livelock(stem=1, period=1)


def judged(verdict, *, broken=(), expect=None, **found):
    """The outcome of a run with a verdict, and of an exploration that found something."""
    explored = Exploration(candidates=MOVES, states=3, tried=6, stopping=1, **found)
    scenario = Scenario(name="a", expect=expect or Expectation())
    outcome = Outcome(scenario=scenario, host="h", trace=Trace(), verdict=verdict, violations=broken)
    return judge_explored(outcome, explored)


@pytest.mark.parametrize(
    "verdict,found,name",
    [
        (ENDED, {"trap": TRAP}, "lockout"),
        (LOOP, {"trap": TRAP}, "lockout"),
        (ENDED, {}, "terminated"),
        (LOOP, {"since": 1, "escape": MOVES}, "livelock"),
        (ENDED, {"open": {"not tried": 2}}, "undecided"),
        (LOOP, {"open": {"not tried": 2}}, "livelock"),
        (Undecided(turn=3, why="no end"), {}, "undecided"),
    ],
)
def test_the_verdict_follows_from_both(verdict, found, name):
    """A lock-out replaces any verdict; open moves replace only the verdict that this one agent could stop."""
    assert judged(verdict, **found).verdict_name == name


def test_a_lock_out_names_its_moves_and_assumptions():
    """A lock-out names the candidate moves and its turn, and assumes that there are no other moves."""
    outcome = judged(ENDED, trap=TRAP)

    assert outcome.verdict == Lockout(turn=1, moves=MOVES)
    assert outcome.assumptions[0] == "The agent has no other moves than the given ones."


def test_open_moves_are_counted_by_reason():
    """An incomplete exploration says how many moves have an unknown result, and why."""
    outcome = judged(ENDED, open={"not tried": 2, "too late": 1})

    assert isinstance(outcome.verdict, Undecided)
    assert "the result of 3 moves is unknown (not tried: 2; too late: 1)" in outcome.verdict.why


def test_expectations_about_the_verdict_are_checked_again():
    """An exploration can meet the expectation of a lock-out that the run broke, and no other expectation."""
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


def test_different_paths_are_shown_move_by_move():
    """
    An expected path out that differs is shown with the path that was found, in the words of scenario files.
    """
    call = Tools(calls=(ToolCall(name="A", input={}), ToolCall(name="B", input={})))
    way = (Edit(file="a", text=""), Read(file="b"), Subagent(), call, Stop(text="Go."))
    (broken,) = judged(LOOP, since=1, escape=MOVES, expect=Expectation(way_out=way)).violations

    assert broken.expected == "edit: a, read: b, subagent: general-purpose, tool: A and B, stop: Go."
    assert broken.seen == "stop: Done., run: ./check"
    (broken,) = judged(ENDED, expect=Expectation(way_in=())).violations
    assert (broken.expected, broken.seen) == ("no move", "no path is known")
