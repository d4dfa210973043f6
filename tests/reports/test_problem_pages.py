"""Claims about the pages that the problems of a check-up name."""

from pathlib import Path

import pytest

from pytest_hookharness.judging.findings.finding_catalogue import look_up
from pytest_hookharness.model.bad_ends import look_up_end, nearest_end
from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem, Symptom
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.verdicts import VERDICTS
from pytest_hookharness.reports.terminal.check_report import as_json, render_check
from pytest_hookharness.reports.terminal.host_facts import describe_findings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("verdict", [*VERDICTS, "no-end", "hook not run", "hook cut", "HOOK-NOT-RUN"])
def test_every_verdict_is_explained(verdict):
    """Each verdict, and each word that a table shows in its place, has its meaning and what to do."""
    end = look_up_end(verdict)

    assert end is not None
    assert describe_findings([end]).startswith(f"{end.name}\n  what: ")


def test_the_nearest_verdict_is_named():
    """A misspelled verdict leads to the nearest verdict, and a word that is similar to none to nothing."""
    assert nearest_end("livelok") == "livelock"
    assert nearest_end("TORN") == ""


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        *((kind, "") for kind in ("livelock", "capped", "no-end", "hung", "recursing", "lockout")),
        ("STAGED", "HH302"),
    ],
)
def test_every_problem_has_a_page(kind, code):
    """A problem names a command that explains it and an existing page; so does a verdict."""
    symptom = Symptom(kind=kind, code=code, text="It is.")
    problem = Problem(id=kind, symptom=symptom, scenario=Scenario(name="check", host="claude-code"))
    place = HookSet(host="claude-code", root=Path("/p"), files=())
    checkup = CheckReport(place=place, problems=(problem,))

    (seen,) = as_json([checkup], lambda *_: "")["checkups"][0]["problems"]
    path, _, part = seen["page"].partition("#")
    assert f"  more      {seen['explained']}" in render_check(checkup, lambda *_: "")
    word = seen["explained"].removeprefix("hookharness findings ")
    explained = look_up(word) or look_up_end(word)
    assert explained is not None
    assert explained.what in " ".join(describe_findings([explained]).split())
    assert not part or f"\n## {part}\n" in (ROOT / path).read_text()
    assert (ROOT / path).is_file()
