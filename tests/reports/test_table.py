"""The summary table of a run."""

import json
from dataclasses import replace

import pytest

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Cut, Exited, ProcessResult, TimedOut
from pytest_hookharness.model.protocol import Basis, Decision, Hook, Reply, Rule, Ruling
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import HookEvent, HookRun, Step, Trace
from pytest_hookharness.model.verdicts import Finding, Terminated, Undecided, Verdict, Violation
from pytest_hookharness.reports.safe_text import columns
from pytest_hookharness.reports.terminal.table import properties, render_table, row


def outcome(
    name: str = "lint", *, variant: str = "", host: str = "claude-code@2", broken: bool = False
) -> Outcome:
    verdict: Verdict = Undecided(turn=1, why="no end") if broken else Terminated(turn=1)
    violations = (Violation(path="expect.verdict", expected="terminated", seen="undecided"),)
    return Outcome(
        scenario=Scenario(name=name, variant=variant),
        host=host,
        trace=Trace(),
        verdict=verdict,
        findings=(Finding(code="HH005", name="CRASHED", text="exit code 1"),),
        violations=violations if broken else (),
        wall=1.25,
        seed=7,
    )


def test_each_simulation_has_a_row() -> None:
    """The table has a row for each simulation with aligned columns, and a line that counts them."""
    assert render_table(
        [row(outcome()), row(outcome("loop", variant="old", broken=True))], width=100
    ).splitlines() == [
        "scenario   host           turns  blocks  verdict      time  result",
        "lint       claude-code@2      0       0  terminated  1.2 s  passed",
        "loop[old]  claude-code@2      0       0  undecided   1.2 s  FAILED: expected terminated",
        "2 simulations: 1 as expected, 1 failed",
    ]


def test_an_empty_table_says_so() -> None:
    """Without simulations there is a sentence instead of a table."""
    assert render_table([]) == "no simulations"


@pytest.mark.parametrize("width", [40, 75, 80, 100, 200])
def test_the_table_keeps_to_the_terminal(width: int) -> None:
    """Long names are shortened so that no line is wider than the terminal."""
    table = render_table([row(outcome("n" * 300, host="漢" * 60)), row(outcome())], width=width)
    assert max(map(columns, table.splitlines())) <= width
    assert width < 80 or table.splitlines()[2].endswith("passed")


def test_a_narrow_terminal_has_the_columns_that_matter() -> None:
    """In 60 columns the counts are left out, and names, verdict and result can be read."""
    assert render_table([row(outcome(broken=True))], width=60).splitlines()[:2] == [
        "scenario  host           verdict     time  result",
        "lint      claude-code@2  undecided  1.2 s  FAILED: expect...",
    ]


def test_names_in_the_table_are_hostile_text() -> None:
    """A name cannot colour the table or break it into another line."""
    table = render_table([row(outcome("a\x1b[31m\nb", variant="\u202e"))])
    assert len(table.splitlines()) == 3
    assert "\x1b" not in table
    assert "\u202e" not in table


def test_rows_and_properties_survive_json() -> None:
    """Rows and properties that a worker sends to its controller stay equal."""
    for value in (row(outcome()), properties(outcome())):
        assert json.loads(json.dumps(value)) == value
    assert properties(outcome())["findings"] == "HH005"


@pytest.mark.parametrize(
    ("finding", "ending", "word"),
    [
        ("HUNG-HOOK", TimedOut(1, Cut.LIMIT), "hook cut"),
        ("NOT-RUN", Exited(127), "hook not run"),
        ("NEVER-FIRED", None, "hook not run"),
        ("CRASHED", Exited(1), "terminated"),
    ],
)
def test_a_session_without_every_decision_is_not_called_terminated(finding, ending, word) -> None:
    """The verdict column says that a hook was cut or did not run, and properties keep the verdict's name."""
    rule = Rule("Exit code 2 refuses.", Basis.OBSERVED, "a host")
    hook_run = HookRun(
        hook=Hook(event="Stop", command="./x"),
        payload={},
        run=ProcessResult(ending=ending) if ending else None,
        reply=Reply(rule=rule),
    )
    decision = Decision(event="Stop", ruling=Ruling.NONE, rule=rule)
    hooked = HookEvent(event="Stop", hook_runs=(hook_run,), decision=decision)
    made = replace(
        outcome(),
        trace=Trace(steps=(Step(number=1, turn=1, exchange=hooked),)),
        findings=(Finding(code="HH000", name=finding, text=""),),
    )
    assert f"  {word}  1.2 s" in render_table([row(made)])
    assert properties(made)["verdict"] == "terminated"
