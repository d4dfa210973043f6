"""Repeats of a session whose hooks draw random numbers, on plain values."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_hookharness.judging.verdict.assumptions import chance_was_drawn
from pytest_hookharness.judging.verdict.conclusion import judge_repeats, may_be_repeated, name_chance
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Cut, Output, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Finding, Livelock, Terminated, Verdict

CHANCE = "$RANDOM in check"
CALL = "PreToolUse"
RULE = Rule(text="a rule", basis=Basis.DOCUMENTED, source="https://example.org")


def played(*refused: bool, event: str = "Stop", verdict: Verdict | None = None) -> Outcome:
    """Return the outcome of a session in which an event was decided in each turn, as given."""
    steps = tuple(
        Step(
            number=n,
            turn=n,
            exchange=HookEvent(event=event, decision=Decision(event=event, refused=one, rule=RULE)),
        )
        for n, one in enumerate(refused, start=1)
    )
    return Outcome(
        scenario=Scenario(name="x"),
        host="h@1",
        trace=Trace(steps=steps),
        verdict=verdict or Terminated(turn=len(steps)),
        assumptions=("Another one.", chance_was_drawn(CHANCE)),
        chance=CHANCE,
    )


@pytest.mark.parametrize(
    ("again", "text"),
    [
        (played(False), "Played again, it allowed the stop in turn 1, and the first time in turn 2."),
        (
            played(True, True, verdict=Livelock(stem=1, period=1)),
            "Played again, it had not allowed the stop by turn 2, and the first time in turn 2.",
        ),
        (
            played(False, False),
            "Played again, Stop was allowed in turn 1; the first time it was refused.",
        ),
        (played(True, False, event=CALL), "Played again, it goes another way in turn 1."),
    ],
)
def test_a_repeat_that_goes_otherwise_is_a_finding(again: Outcome, text: str) -> None:
    """A repeat with another end or another decision gives FLAKY, with advice that names the draw."""
    judged = judge_repeats(played(True, False), (played(True, False), again))

    assert [(one.name, one.text) for one in judged.findings] == [("FLAKY", text)]
    assert CHANCE in judged.findings[0].advice
    assert judged.verdict == Terminated(turn=2)


def test_repeats_that_go_alike_are_counted() -> None:
    """Where all repeats go the same way, the assumption says how many there were, and nothing is found."""
    judged = judge_repeats(played(True, False), (played(True, False),) * 3)

    assert judged.findings == ()
    assert judged.assumptions == ("Another one.", chance_was_drawn(CHANCE, 3))
    assert judge_repeats(played(False), ()).assumptions == ("Another one.", chance_was_drawn(CHANCE))


def test_a_repeat_in_which_a_hook_was_cut_shows_nothing() -> None:
    """A hook that was cut may only have been slow, which is not chance."""
    cut = ProcessResult(
        ending=TimedOut(after=1.0, by=Cut.HOOK_TIMEOUT), stdout=Output(), stderr=Output(), wall=1.0
    )
    run = HookRun(
        hook=Hook(event="Stop", command="x"), payload={}, stdin=b"", run=cut, reply=Reply(rule=RULE)
    )
    slow = HookEvent(event="Stop", hook_runs=(run,), decision=Decision(event="Stop", rule=RULE))
    again = replace(played(False), trace=Trace(steps=(Step(number=1, turn=1, exchange=slow),)))

    assert judge_repeats(played(True, False), (again,)).findings == ()


def test_only_ended_sessions_with_a_draw_are_repeated() -> None:
    """A loop has evidence of its own, and a session without a draw is not played again."""
    assert may_be_repeated(played(False))
    assert not may_be_repeated(replace(played(False), chance=""))
    assert not may_be_repeated(played(True, verdict=Livelock(stem=1, period=1)))


def test_only_the_advice_of_flaky_names_chance() -> None:
    """The advice of other findings stays, and so does that of FLAKY where nothing was seen to be drawn."""
    flaky = Finding(code="HH012", name="FLAKY", text="x", advice="a")
    clock = Finding(code="HH016", name="CLOCK", text="x", advice="b")

    named = name_chance((flaky, clock), CHANCE)

    assert [CHANCE in each.advice for each in named] == [True, False]
    # A seed that is fixed in each run gives each run the same number, so a refusal would never end.
    assert "seed" not in named[0].advice
    assert name_chance((flaky, clock), "") == (flaky, clock)
