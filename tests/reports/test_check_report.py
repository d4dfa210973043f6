"""Claims about the report of a check-up."""

from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.frontends.checkup import FOUND, UNKNOWN, status_of
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, RunCommand, Script
from pytest_hookharness.model.mutations import VaryRequest
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.terminal.check_report import as_json, headline, render_check

HOOKS = tuple(Hook(event="Stop", command=command) for command in ("./a.sh", "./b.sh", "./c.sh"))
PLACE = HookSet(host="claude-code", root=Path("/p"), files=(), hooks=HOOKS)


def problem(hook, kind="livelock", **more):
    symptom = Symptom(kind=kind, hook=hook, text="It is.", turn=29)
    return Problem(id=kind, symptom=symptom, scenario=Scenario(name="check", host="claude-code"), **more)


def report(**more):
    return render_check(CheckReport(place=PLACE, **more), lambda *_: "hookharness check")


@pytest.mark.parametrize(
    ("undecided", "said"),
    [((), "was not seen"), (("No time.",), "not seen, but the check is incomplete")],
)
def test_one_problem_that_was_looked_for(undecided, said):
    """If one problem was looked for, the report says whether it is gone, not that nothing is wrong."""
    made = CheckReport(place=PLACE, only="livelock-a", undecided=undecided)
    assert headline(made).startswith(f"claude-code: problem livelock-a {said}, ")
    assert "only livelock-a" in report(only="livelock-a")


def test_which_hooks_have_problems():
    """Problems are counted with the hooks that have them, and hooks that ran without any are named."""
    made = CheckReport(
        place=PLACE,
        problems=(problem("./a.sh"), problem("./a.sh", "CRASHED")),
        triggered=("./a.sh", "./b.sh"),
    )
    assert headline(made).startswith("claude-code: 2 problems with 1 of 3 hooks in ")
    assert "\n\nno problem found:\n  - Stop 2 (b.sh)" in render_check(made, lambda *_: "")
    assert as_json([made], lambda *_: "")["checkups"][0]["no_problem_with"] == ["./b.sh"]
    assert "no problem was seen" not in render_check(replace(made, undecided=("No time.",)), lambda *_: "")
    # Of a hook that could not be tried nothing is known.
    assert "no problem found" not in render_check(replace(made, hindered=("./b.sh",)), lambda *_: "")


def test_problems_of_all_hooks_or_of_none():
    """If every hook has a problem, or the settings have one, the count covers all hooks."""
    of_all = tuple(problem(hook.command) for hook in HOOKS)
    assert headline(CheckReport(place=PLACE, problems=of_all)).startswith(
        "claude-code: 3 problems with 3 hooks in "
    )
    of_none = CheckReport(place=PLACE, problems=(problem("", "CONFIG-OFF"),))
    assert headline(of_none).startswith("claude-code: 1 problem with 3 hooks in ")


def test_what_was_changed_stands_in_words():
    """What a mutation changed is reported in a sentence, not by the name of its family."""
    scenario = Scenario(name="check", host="claude-code", vary=(VaryRequest("tools"), VaryRequest("input")))
    text = report(problems=(replace(problem("./a.sh"), scenario=scenario),))
    assert "  changed   a program that a hook calls is missing; input\n" in text


def test_a_session_that_was_not_made_smaller():
    """A problem of a long session is shown by the move after which it was seen, not by the last moves."""
    acts = (FIRST_PROMPT, *(RunCommand(command=f"echo {number}") for number in range(40)))
    scenario = Scenario(name="check", host="claude-code", script=Script(acts=acts))
    found = replace(
        problem("./a.sh"),
        scenario=scenario,
        shown_by=("hostile text",),
        move=RunCommand(command="rm -rf build"),
    )
    said = report(problems=(found,))
    assert '  shown by  runs "rm -rf build", in turn 29 (hostile text)\n' in said
    assert "others before" not in said


def test_an_interrupted_check_up_is_unknown():
    """After Ctrl-C the exit status is "unknown", even if problems were found."""
    found = CheckReport(place=PLACE, problems=(problem("./a.sh"),))
    assert status_of([found]) == FOUND
    assert status_of([found, replace(found, interrupted=True)]) == UNKNOWN
    assert status_of([replace(found, failed=True)]) == UNKNOWN


def test_all_files_are_played_by_one_command():
    """The command that plays all written files names each of them with its path."""
    found = tuple(problem(hook, file=Path(f"{hook[2]} b.scenario.yaml")) for hook in ("./a.sh", "./b.sh"))
    said = report(problems=found)
    assert (
        "run all written scenarios: pytest --hook-scenarios 'a b.scenario.yaml' 'b b.scenario.yaml'" in said
    )
    assert "were written" not in report(problems=(problem("./a.sh"),))


def test_what_is_wrong_is_told_whole():
    """A long sentence takes several lines, and nothing of it is cut."""
    text = f"the guard refuses {', '.join(f'`rm -rf folder{number}`' for number in range(20))}, and no end."
    one = problem("./a.sh")
    made = report(problems=(replace(one, symptom=replace(one.symptom, text=text)),))
    block = made.partition("livelock Stop 1 (a.sh): ")[2].partition("  runs ")[0]
    assert " ".join(block.split()) == text
    assert max(map(len, block.splitlines())) <= 110


def test_many_hooks_with_one_problem():
    """Of many hooks the first three are named, and a command that was cut is not a name."""
    hooks = tuple(Hook(event="Stop", command=f"cd {'x' * 60} && echo {number}") for number in range(5))
    place = replace(PLACE, hooks=hooks)
    made = CheckReport(place=place, problems=(problem(", ".join(hook.command for hook in hooks)),))
    text = render_check(made, lambda *_: "")
    assert "livelock Stop 1, Stop 2, Stop 3 and 2 more hooks: It is." in text
