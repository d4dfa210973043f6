"""Claims about check reports for CI: SARIF, annotations of GitHub Actions and Markdown, with hostile text."""

import re
from pathlib import Path

import pytest

from pytest_hookharness.judging.findings.codes import SLOW
from pytest_hookharness.judging.findings.finding_catalogue import catalogue
from pytest_hookharness.model.checkup import AcceptedProblem, CheckReport, Fix, HookSet, Problem, Symptom
from pytest_hookharness.model.protocol import Hook
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.ci.check_results import github_log, markdown, sarif_log
from pytest_hookharness.reports.ci.sarif import SarifLocation, SarifRunInfo

from .test_sarif import flaws

ROOT = Path("/repository")
HOSTILE = "::error::x\n::set-output name=a::b ](http://evil) | <img> `x` ``` @you # head \x1b[31m ##[command]"
PLACE = HookSet(
    host="claude-code",
    root=ROOT,
    files=(".claude/settings.json",),
    hooks=(Hook(event="Stop", command=HOSTILE),),
)
INFO = SarifRunInfo("check", SarifLocation(ROOT), ROOT, lambda _: None)


def problem(kind="livelock", code="", **more):
    symptom = Symptom(kind=kind, code=code, hook=HOSTILE, text=HOSTILE, advice="Fix it.")
    return Problem(id=f"{kind}-x", symptom=symptom, scenario=Scenario(name="check"), **more)


REPORT = CheckReport(
    place=PLACE,
    problems=(problem(), problem("NOT-RUN", "HH004", fix=Fix(text=HOSTILE, evidence="2 sessions."))),
    accepted=(AcceptedProblem(problem=problem("SLOW", SLOW.code), reason=HOSTILE),),
    undecided=(HOSTILE,),
)


def locate(report, problem):
    return SarifLocation(ROOT / ".claude/settings.json", 3)


def replay(problem, place):
    return f"hookharness check . --only {problem.id}"


@pytest.fixture
def log():
    return sarif_log([REPORT], catalogue(), INFO, locate, version="0.1.0", status=1)


def test_the_log_is_valid(log):
    """The SARIF log has the properties that the standard requires, and no others."""
    assert [*flaws(log)] == []


def test_the_results_of_the_log(log):
    """What must be fixed is an error, the rest a warning; an accepted problem is suppressed."""
    (run,) = log["runs"]
    found = [
        (one["ruleId"], one["level"], one.get("suppressions", [{}])[0].get("kind")) for one in run["results"]
    ]
    assert found == [
        ("livelock", "error", None),
        ("HH004", "error", None),
        (SLOW.code, "warning", "external"),
    ]
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == ".claude/settings.json"
    assert place["region"]["startLine"] == 3
    assert run["invocations"][0]["executionSuccessful"] is False
    assert len({one["partialFingerprints"]["primaryLocationLineHash"] for one in run["results"]}) == 3


def test_a_kind_that_the_catalogue_does_not_have():
    """A problem without a code has a rule of its own name."""
    report = CheckReport(place=PLACE, problems=(problem("ODD-TIMEOUT"),))
    (run,) = sarif_log([report], catalogue(), INFO, locate, version="0.1.0", status=1)["runs"]
    (found,) = run["results"]
    assert run["tool"]["driver"]["rules"][found["ruleIndex"]]["id"] == found["ruleId"] == "ODD-TIMEOUT"


def test_hostile_text_in_the_log(log):
    """No text of a result is a link or has a control character."""
    for one in log["runs"][0]["results"]:
        assert "](" not in one["message"]["text"]
        assert not re.search(r"[\x00-\x1f]", one["message"]["text"])


FIXED = problem("NOT-RUN", "HH004", fix=Fix(text="Do it.", evidence="Seen.", written=("a.sh",)))


def test_fixed_problems_are_no_results():
    """A problem whose fix was written is no result and no annotation; Markdown names it as fixed."""
    report = CheckReport(place=PLACE, problems=(problem(), FIXED, problem("SLOW", SLOW.code)))
    (run,) = sarif_log([report], catalogue(), INFO, locate, version="0.1.0", status=1)["runs"]
    assert [one["ruleId"] for one in run["results"]] == ["livelock", SLOW.code]
    lines = "\n".join(github_log([report], replay, INFO, locate)).split("\n")
    assert [line.partition(" ")[0] for line in lines if line.startswith("::")] == ["::error", "::warning"]
    text = markdown([report], replay)
    assert "\n| NOT-RUN |" not in text
    assert "\n- fixed: `NOT-RUN-x`\n" in text


def test_hostile_text_in_annotations():
    """Only our own lines are workflow commands: one for each problem, and one for what is unknown."""
    lines = "\n".join(github_log([REPORT], replay, INFO, locate)).split("\n")
    commands = [line for line in lines if line.lstrip().startswith("::")]
    assert [line.split(" ")[0] for line in commands] == ["::error", "::error", "::warning"]
    assert "file=.claude/settings.json,line=3,title=" in commands[0]
    assert all("##[" not in line and "\x1b" not in line for line in lines)


def test_hostile_text_in_markdown():
    """Outside of code spans and fences no hostile text is left, and each row of the table has four cells."""
    text = markdown([REPORT], replay)
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", text)
    for row in (line for line in outside.split("\n") if line.startswith("| ") and "---" not in line):
        assert len(re.findall(r"(?<!\\)\|", row)) == 5
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    assert not re.search(r"<img|evil|@you|set-output|\x1b", outside)
    assert "accepted" in outside
