"""The table of slow hooks."""

import json

import pytest

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Exited, ProcessResult
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.timings import RunTime, Timing
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Livelock, Terminated
from pytest_hookharness.reports.terminal.table import (
    duration_rows,
    properties,
    read_durations,
    render_durations,
)

RULE = Rule("Exit code 0 allows.", Basis.OBSERVED, "a host")
DECISION = Decision(event="Stop", ruling=Ruling.NONE, refused=False, rule=RULE)


def timing(command: str, *seconds: float, cut: bool = False, limit: float | None = 60.0) -> Timing:
    hook_runs = tuple(RunTime(cut=cut, seconds=each) for each in seconds)
    return Timing(event="Stop", command=command, hook_runs=hook_runs, limit=limit)


def outcome(*walls: float) -> Outcome:
    hook_runs = tuple(
        HookRun(
            hook=Hook(event="Stop", command="./lint.sh"),
            payload={},
            run=ProcessResult(ending=Exited(0), wall=wall, limit=10.0),
            reply=Reply(ruling=Ruling.NONE, rule=RULE),
        )
        for wall in walls
    )
    step = Step(number=1, turn=1, exchange=HookEvent(event="Stop", hook_runs=hook_runs, decision=DECISION))
    return Outcome(
        scenario=Scenario(name="lint"), host="h@1", trace=Trace(steps=(step,)), verdict=Terminated(turn=1)
    )


def test_the_slowest_hook_is_first():
    """Each hook has a row with its median, 95th percentile, share of its limit, and number of runs."""
    found = [timing("./quick.sh", 0.004, limit=None), timing("./slow.sh", 0.2, 3.0)]

    assert render_durations(found) == [
        "   p50     p95  of timeout  runs  event  hook",
        "200 ms  3.00 s         5 %     2  Stop   ./slow.sh",
        "  4 ms    4 ms                 1  Stop   ./quick.sh",
    ]


def test_quick_hooks_are_left_out():
    """Hooks below the least time are left out; if no hook is left, there is no table."""
    found = [timing("./quick.sh", 0.004), timing("./slow.sh", 0.2)]

    assert [line.split()[-1] for line in render_durations(found, least=0.1)] == ["hook", "./slow.sh"]
    assert render_durations(found, least=1.0) == []


def test_the_number_of_rows_can_be_chosen():
    """A number limits the rows, and zero means all."""
    found = [timing(f"./{number}.sh", number / 10) for number in range(1, 9)]

    assert [line.split()[-1] for line in render_durations(found, most=2)] == ["hook", "./8.sh", "./7.sh"]
    assert len(render_durations(found)) == 9


def test_a_hook_that_timed_out_is_the_slowest():
    """A hook that timed out comes before all that ended, and the sign before its time is explained."""
    lines = render_durations([timing("./long.sh", 30.0), timing("./stuck.sh", 10.0, cut=True)])

    assert lines[1].split()[:3] == [">", "10.00", "s"]
    assert lines[-1] == "> timed out then; it would have taken longer"


@pytest.mark.parametrize(("limit", "share"), [(600.0, "unknown"), (10.0, "100 %")])
def test_the_share_of_a_timed_out_run_is_unknown_below_the_limit(limit, share):
    """A run ended below its host's limit has no known share of it; one ended by the limit has reached it."""
    (_, line, _) = render_durations([timing("./stuck.sh", 10.0, cut=True, limit=limit)])

    assert share in line
    assert "< 1 %" not in line
    assert "2 %" not in line


def test_commands_are_hostile_text():
    """A command cannot colour the table or begin a line of its own."""
    assert len(render_durations([timing("a\x1b[31m\nb", 1.0)])) == 2
    assert "\x1b" not in "".join(render_durations([timing("a\x1b[31m\nb", 1.0)]))


def test_runs_in_several_simulations_are_one_row():
    """Rows survive JSON, and the runs of one hook in several simulations share a row."""
    crossed = json.loads(json.dumps(duration_rows([outcome(0.3), outcome(0.1, 0.2)])))

    (found,) = read_durations([*crossed, *crossed])

    assert [hook_run.seconds for hook_run in found.hook_runs] == [0.1, 0.1, 0.2, 0.2, 0.3, 0.3]
    assert found.limit == 10.0


def test_properties_without_a_value_are_left_out():
    """The slowest hook and the period of a proved loop are properties if they exist."""
    seen = outcome(0.1, 0.25)
    endless = Outcome(
        scenario=seen.scenario, host=seen.host, trace=Trace(), verdict=Livelock(stem=1, period=2)
    )

    assert properties(seen)["p95_ms"] == 250.0
    assert properties(seen)["leftovers"] == 0
    assert "period" not in properties(seen)
    assert properties(endless)["period"] == 2
    assert "p95_ms" not in properties(endless)
