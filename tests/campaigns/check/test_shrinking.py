"""Claims about shrinking, with a judge that looks at scenarios instead of playing them."""

from pytest_hookharness.campaigns.check.shrinking import shrink
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, Behaviour, Edit, RunCommand, Script
from pytest_hookharness.model.mutations import Parallel, VaryRequest
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Happened, Moved, Step, Trace

CRASH = Symptom(kind="CRASHED", code="HH005", text="it crashed", turn=3)
MOVES = (
    RunCommand(command="true"),
    Edit(file="notes.txt", text="text\n"),
    RunCommand(command="echo it is 50% of a $ or so"),
)
STEPS = (Happened(event=FIRST_PROMPT), *(Moved(move=move) for move in MOVES))
TRACE = Trace(steps=tuple(Step(number=turn, turn=turn, exchange=seen) for turn, seen in enumerate(STEPS)))


def scenario(**more):
    return Scenario(
        name="check", script=Script(acts=(FIRST_PROMPT, *MOVES), then=Behaviour(name="editing")), **more
    )


def judge(shows, symptom=CRASH):
    def look(tried):
        seen.append(tried)
        return symptom if shows(tried) else None

    seen = []
    return look, seen


def commands(tried):
    return [act.command for act in tried.script.acts if isinstance(act, RunCommand)]


def test_one_move_and_the_shortest_half_of_its_text():
    """A problem of one move is shown by that move alone, with a shorter text and an idle agent."""
    look, _ = judge(lambda tried: any("$" in command for command in commands(tried)))
    small, _ = shrink(scenario(), CRASH, TRACE, look)
    assert len(small.script.acts) == 2
    assert len(commands(small)[0]) < len(MOVES[2].command)
    assert small.script.then == Behaviour()


def test_two_moves_that_are_both_needed_stay():
    """A move without which the problem does not show stays."""
    look, _ = judge(
        lambda tried: "true" in commands(tried) and any("$" in command for command in commands(tried))
    )
    small, _ = shrink(scenario(), CRASH, TRACE, look)
    assert len(small.script.acts) == 3


def test_what_nothing_shows_again_is_no_evidence():
    """Where no session shows it a second time, there is no smallest one."""
    look, seen = judge(lambda _: False)
    assert shrink(scenario(), CRASH, TRACE, look) is None
    assert scenario() in seen


def test_verdict_keeps_how_the_agent_goes_on():
    """A verdict that takes an agent of one behaviour is shown by its behaviour, and by no script."""
    look, _ = judge(lambda tried: tried.script.then.name == "editing")
    small, _ = shrink(scenario(), Symptom(kind="livelock", text="forever", turn=3), TRACE, look)
    assert small.script == Script(acts=(FIRST_PROMPT,), then=Behaviour(name="editing"))


def test_only_the_kind_that_shows_it_is_varied():
    """If only one kind of variation shows the problem, no other kind is left."""
    wrong = Symptom(kind="WRONG-KEY", code="HH115", text="another's count", turn=3)
    look, _ = judge(lambda tried: VaryRequest("processes") in tried.vary, wrong)
    small, _ = shrink(scenario(vary=(VaryRequest("key-order"), VaryRequest("processes"))), wrong, TRACE, look)
    assert small.vary == (VaryRequest("processes"),)


def test_only_the_race_is_left_where_it_shows_lost_updates():
    """Updates that parallel hook runs lose are shown by these alone, without any mutation."""
    lost = Symptom(kind="LOST-UPDATES", code="HH105", text="a count", turn=3)
    look, _ = judge(lambda tried: tried.parallel is not None, lost)
    varied = scenario(vary=(VaryRequest("key-order"),), parallel=Parallel())
    small, _ = shrink(varied, lost, TRACE, look)
    assert (small.vary, small.parallel) == ((), Parallel())


def test_number_of_sessions_is_bounded():
    """The number of sessions is limited, however long a script is."""
    look, seen = judge(lambda tried: len(tried.script.acts) > 30)
    long = Scenario(name="check", script=Script(acts=(FIRST_PROMPT, *(MOVES * 20))))
    shrink(long, CRASH, TRACE, look)
    assert len(seen) <= 14


def test_the_environment_stays():
    """A session without the repository of the first one would show another problem, so none is played."""
    look, seen = judge(lambda _: True)
    shrink(scenario(git=True, env={"A": "1"}), CRASH, TRACE, look)
    assert {(tried.git, *tried.env) for tried in seen} == {(True, "A")}
