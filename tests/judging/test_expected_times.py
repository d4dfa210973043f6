"""How long hooks may take, with given times: no test here waits."""

from collections.abc import Sequence

import pytest

from pytest_hookharness.judging.expectations.check_expectations import find_violations
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import (
    Cut,
    Ending,
    Exited,
    HeldOpen,
    NotStarted,
    ProcessResult,
    TimedOut,
)
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.timings import MEDIAN, NEARLY_ALL, RunTime, Timing, timings
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Terminated

FINE = Exited(0)
RULE = Rule("Exit code 0 allows.", Basis.OBSERVED, "a host")
DECISION = Decision(event="Stop", ruling=Ruling.NONE, refused=False, rule=RULE)


def ran(turn: int, wall: float, ending: Ending = FINE, command: str = "./lint.sh") -> Step:
    hook_run = HookRun(
        hook=Hook(event="Stop", command=command),
        payload={},
        run=ProcessResult(ending=ending, wall=wall, limit=60.0),
        reply=Reply(ruling=Ruling.NONE, rule=RULE),
    )
    return Step(
        number=turn, turn=turn, exchange=HookEvent(event="Stop", hook_runs=(hook_run,), decision=DECISION)
    )


def broken(steps: Sequence[Step], **within_ms: int) -> list[tuple[str, str]]:
    outcome = Outcome(
        scenario=Scenario(name="lint", expect=Expectation(verdict="terminated", within_ms=within_ms)),
        host="claude-code@2",
        trace=Trace(steps=tuple(steps)),
        verdict=Terminated(turn=2),
    )
    found = find_violations(outcome, initial={}, final_text=lambda _: None)
    return [(item.path, item.seen) for item in found]


def test_each_hook_run_within_its_time():
    """A time limit is met if no hook run of the event takes longer; exactly as long is allowed."""
    assert broken([ran(1, 0.1), ran(2, 0.5)], Stop=500) == []


def test_the_slow_hook_run_is_named():
    """Among fewer than twenty hook runs one slow run breaks the expectation, and its turn is named."""
    steps = [ran(1, 0.1), ran(2, 0.9), *(ran(turn, 0.1) for turn in range(3, 20))]

    assert broken(steps, Stop=500) == [
        ("expect.within_ms.Stop", "900 ms in turn 2 (the slowest of 19 runs): ./lint.sh")
    ]


def test_one_in_twenty_may_be_slow():
    """Among twenty hook runs one may be slower than its limit, and two may not."""
    quick = [ran(turn, 0.1) for turn in range(1, 20)]

    assert broken([*quick, ran(20, 9.0)], Stop=500) == []
    assert broken([*quick[1:], ran(20, 0.6), ran(21, 9.0)], Stop=500) == [
        (
            "expect.within_ms.Stop",
            "600 ms in turn 20 (95 % of 20 runs took no longer; the slowest was in turn 21): ./lint.sh",
        )
    ]


def test_a_quick_hook_does_not_hide_a_slow_one():
    """Each hook of an event is measured on its own."""
    quick = [ran(turn, 0.01) for turn in range(1, 60)]

    ((_, seen),) = broken([*quick, ran(60, 0.8, command="./slow.sh")], Stop=500)

    assert seen == "800 ms in turn 60 (its only run): ./slow.sh"


def test_a_hook_run_that_was_cut_is_never_within_its_time():
    """A hook run that was cut before its limit breaks the expectation, because its end was not seen."""
    cut = ran(1, 10.0, TimedOut(after=10.0, by=Cut.HOOK_TIMEOUT))

    assert broken([cut], Stop=60_000)[0][1].startswith("cut after 10,000 ms in turn 1")


def test_what_never_ran_is_not_quick():
    """A limit for an event without hook runs is broken, also if a command could not be started."""
    missing = ran(1, 0.001, NotStarted("./lint.sh does not exist"))

    for steps in ([], [missing], [missing, missing]):
        assert broken(steps, Stop=500) == [("expect.within_ms.Stop", "no command of Stop ran")]
    assert broken([missing, ran(2, 0.1)], Stop=500) == []


@pytest.mark.parametrize(
    ("ending", "seconds"),
    [
        (Exited(2), 0.2),
        (NotStarted("no such file"), 0.2),
        (HeldOpen(Exited(0), waited=0.5), 0.7),
        (TimedOut(after=3.0, by=Cut.LIMIT, ended=Exited(0)), 3.0),
    ],
)
def test_the_time_that_the_host_waits(ending, seconds):
    """The time counts that the host waited: for the process, and then until its output was closed."""
    (timing,) = timings(Trace(steps=(ran(1, 0.2, ending),)))

    assert timing.hook_runs[0].seconds == pytest.approx(seconds)
    assert timing.limit == 60.0


def test_percentiles_are_times_of_real_hook_runs():
    """A percentile is the time of a hook run, by nearest rank."""
    hook_runs = tuple(RunTime(cut=False, seconds=number) for number in range(1, 21))

    assert Timing(event="Stop", command="x", hook_runs=hook_runs).within(MEDIAN).seconds == 10
    assert Timing(event="Stop", command="x", hook_runs=hook_runs).within(NEARLY_ALL).seconds == 19
    assert Timing(event="Stop", command="x", hook_runs=hook_runs[:1]).within(MEDIAN).seconds == 1
