"""The table of a stress run."""

from dataclasses import replace

from pytest_hookharness.model.exploration import LATE, Exploration
from pytest_hookharness.model.mutations import TrialResult
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.terminal.campaign_report import describe_exploration, table

BASE = Outcome(scenario=Scenario(name="test"), host="host@1", trace=Trace(), verdict=Terminated(turn=1))


def shown(*cells, width=100):
    """Return the lines of the table of some trial results."""
    outcome = replace(BASE, trial_results=cells)
    return table(outcome, lambda words: f"play {words}", width=width).splitlines()


def cell(fault, verdict, hook="guard.sh", evidence="", payload=""):
    return TrialResult(
        family="stdin", mutation=fault, outcome=verdict, hook=hook, evidence=evidence, payload=payload
    )


def test_the_worst_row_is_first():
    """Rows are sorted by severity: an inert guard before one that refuses too much, good results last."""
    words = ["as declared", "not tried", "differs", "fail-closed", "hung", "fail-open", "inert"]
    lines = shown(*(cell(f"way {place}", word) for place, word in enumerate(words)))

    rows = [line.partition("  ")[2].strip() for line in lines if line.startswith("way")]
    assert rows == [*reversed(words[1:]), "as usual"]
    assert (
        lines[-1]
        == "7 mutations: 1 inert, 1 fail-open, 1 hung, 1 fail-closed, 1 differs, 1 not tried, 1 as usual"
    )


def test_only_a_declaration_is_kept():
    """A hook without a difference does as usual, and as declared where the scenario declares something."""
    declared = replace(BASE, scenario=replace(BASE.scenario, on_failure={"guard.sh": "allow"}))
    for base, words in ((BASE, "as usual"), (declared, "as declared")):
        outcome = replace(base, trial_results=(cell("one", "as declared"),))
        lines = table(outcome, str).splitlines()
        assert (lines[1].split(maxsplit=1)[1], lines[-1]) == (words, f"1 mutation: 1 {words}")


def test_many_mutations_without_time_are_one_line():
    """Mutations that were not tried for one reason are one line; few for another reason keep their rows."""
    late = [cell(f"late {place}", "not tried", hook="", evidence="no time") for place in range(4)]
    other = cell("other", "not tried", hook="", evidence="no tool")
    lines = shown(*late, other, cell("one", "as declared"))

    assert "4 mutations not tried: no time" in lines
    assert not any(line.startswith("late") for line in lines)
    assert any(line.startswith("other") for line in lines)
    assert lines[-1] == "6 mutations: 5 not tried, 1 as usual"


def test_a_row_that_is_not_fine_has_evidence_and_a_command():
    """A bad result is followed by its evidence and its replay command, a good one by nothing."""
    lines = shown(
        cell("one", "fail-open", evidence="it let it through"), cell("other", "as declared", evidence="same")
    )

    assert lines[2:4] == ["    it let it through", "    replay: play one"]
    assert len(lines) == 6


def test_a_cell_has_the_worst_of_its_payloads():
    """A cell has the worse result of a hook's two payloads, and other hooks have their own cells."""
    lines = shown(
        cell("one", "as declared", payload="allow"),
        cell("one", "fail-open", payload="deny"),
        cell("one", "fail-closed", hook="other.sh"),
    )

    assert lines[0].split() == ["mutation", "guard.sh", "other.sh"]
    assert lines[1].split() == ["one", "fail-open", "fail-closed"]


def test_two_kinds_that_try_the_same_are_one_row():
    """If two families try the same, one row has the worse result of both, for each hook."""
    lines = shown(
        replace(cell("empty", "as declared", hook=""), family="input"),
        cell("empty", "fail-open", evidence="it let it through"),
        cell("empty", "as declared", hook="other.sh"),
    )

    assert lines[1].split() == ["empty", "fail-open", "as", "usual"]
    assert lines[-1] == "1 mutation: 1 fail-open"


def test_a_hook_is_named_without_the_variable_of_its_folder():
    """The head of a column is the script that its command names."""
    hook = '"$CLAUDE_PROJECT_DIR"/.claude/hooks/guard.sh'
    lines = shown(cell("one", "fail-open", hook=hook))

    assert lines[0].split() == ["mutation", ".claude/hooks/guard.sh"]


def test_what_was_not_tried_says_why():
    """A row that concerns no hook says in all columns that it was not tried, and below it why."""
    lines = shown(
        cell("one", "as declared"), cell("other", "not tried", hook="", evidence="it makes no sense")
    )

    assert lines[1].split() == ["other", "not", "tried"]
    assert lines[2] == "    it makes no sense"


def test_hostile_words_stay_in_their_row():
    """Text of a run cannot begin a line or colour the terminal."""
    lines = shown(cell("one\n\x1b[31mtwo", "fail-open", hook="a\nb", evidence="\x1b[2Jgone\nfine"))

    assert len(lines) == 5
    assert "\x1b" not in "".join(lines)


def test_moves_without_time_are_no_proof_about_the_loop():
    """That no move leads out of a loop is said of the tried moves alone if some were not tried."""
    explored = Exploration(candidates=(), states=1, tried=1, stopping=0, open={LATE: 3}, since=1, escape=())
    assert "  none of the moves that were tried leads out of the loop" in describe_exploration(explored)
    whole = replace(explored, open={})
    assert "  none of these moves leads out of the loop" in describe_exploration(whole)
