"""
The SARIF log for viewers of static analysis, compared with the properties that the standard has.

The classes of ``sarif_om`` were made from the standard's schema: each knows the names of its properties and
which of them are required. Types and what GitHub asks for beyond it are checked here.
"""

import json
import re
from pathlib import Path

import attr
import pytest
import sarif_om

from pytest_hookharness.frontends.pytest_plugin.ci_files import find_script
from pytest_hookharness.judging.findings.finding_catalogue import CRASHED, HUNG_HOOK, catalogue
from pytest_hookharness.model.expectations import Expectation
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Origin, Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Livelock, Terminated, Violation
from pytest_hookharness.reports.ci.sarif import SarifLocation, SarifRunInfo, log, results

ROOT = Path("/repository")
FILE = ROOT / "hook scenarios" / "lint.scenario.yaml"
ORIGIN = Origin(file=FILE, marks={"expect": (7, 3), "expect.verdict": (9, 5), "files.check.sh": (3, 5)})
# The objects in each property; all other properties hold texts and numbers only.
OBJECTS = {
    ("SarifLog", "runs"): "Run",
    ("Run", "tool"): "Tool",
    ("Run", "results"): "Result",
    ("Run", "invocations"): "Invocation",
    ("Invocation", "toolExecutionNotifications"): "Notification",
    ("Notification", "message"): "Message",
    ("Tool", "driver"): "ToolComponent",
    ("ToolComponent", "rules"): "ReportingDescriptor",
    ("ReportingDescriptor", "shortDescription"): "MultiformatMessageString",
    ("ReportingDescriptor", "fullDescription"): "MultiformatMessageString",
    ("ReportingDescriptor", "help"): "MultiformatMessageString",
    ("ReportingDescriptor", "defaultConfiguration"): "ReportingConfiguration",
    ("Result", "message"): "Message",
    ("Result", "locations"): "Location",
    ("Result", "relatedLocations"): "Location",
    ("Result", "suppressions"): "Suppression",
    ("Location", "physicalLocation"): "PhysicalLocation",
    ("PhysicalLocation", "artifactLocation"): "ArtifactLocation",
    ("PhysicalLocation", "region"): "Region",
}


def flaws(value, kind="SarifLog", path="$"):
    """Return what the standard does not allow, in words."""
    known = {field.metadata["schema_property_name"]: field for field in attr.fields(getattr(sarif_om, kind))}
    for name, field in known.items():
        if field.default is attr.NOTHING and name not in value:
            yield f"{path} lacks {name}"
    for name, item in value.items():
        place = f"{path}.{name}"
        if name not in known:
            yield f"{place} is no property of {kind}"
        elif (kind, name) in OBJECTS:
            for number, each in enumerate(item if isinstance(item, list) else [item]):
                yield from flaws(each, OBJECTS[kind, name], f"{place}[{number}]")
        elif name == "partialFingerprints":
            if not all(isinstance(each, str) for each in item.values()):
                yield f"{place} holds more than texts"
        elif not isinstance(item, str | int):
            yield f"{place} is neither text nor number"
        if name == "level" and item not in ("none", "note", "warning", "error"):
            yield f"{place} is no level"


def outcome(*findings, violations=(), verdict=None, origin=ORIGIN, expect=None):
    return Outcome(
        scenario=Scenario(name="lint", origin=origin, expect=expect or Expectation(verdict="terminated")),
        host="claude-code@2",
        trace=Trace(),
        verdict=verdict or Terminated(turn=2),
        findings=findings,
        violations=violations,
    )


def found(seen, script=None, item="scenarios/lint.scenario.yaml::lint"):
    around = SarifRunInfo(item, SarifLocation(FILE, 1), ROOT, lambda _: script)
    return results(seen, around)


def whole(found, trouble=(), status=1):
    return log(found, catalogue(), version="1.2.3", status=status, trouble=trouble)


BROKEN = Violation(path="expect.verdict", expected="terminated", seen="livelock")
FINDING = CRASHED.found("exit code 1 [click](javascript:x)", turn=1, hook="./check.sh")


def test_the_log_has_the_form_of_the_standard():
    """All objects have the properties that the standard requires, and no further ones."""
    seen = outcome(FINDING, violations=(BROKEN,), verdict=Livelock(stem=1, period=1))

    made = whole(found(seen, SarifLocation(ROOT / "check.sh")), trouble=["a file\x1b could not be read"])

    assert list(flaws(made)) == []
    assert json.loads(json.dumps(made)) == made
    assert made["version"] == "2.1.0"
    assert not made["runs"][0]["invocations"][0]["executionSuccessful"]


@pytest.mark.parametrize(
    ("broken", "flaw"),
    [
        ({"runs": []}, "$ lacks version"),
        ({"version": "2.1.0", "runs": [], "extra": 1}, "$.extra is no property of SarifLog"),
        ({"version": "2.1.0", "runs": [{}]}, "$.runs[0] lacks tool"),
        ({"version": {}, "runs": []}, "$.version is neither text nor number"),
    ],
)
def test_flaws_are_seen(broken, flaw):
    """A log that does not have that form is rejected."""
    assert list(flaws(broken)) == [flaw]


def test_a_run_without_failures_is_a_log_too():
    """Where nothing is wrong there are no results, and viewers close what they knew."""
    made = whole([], status=0)

    assert list(flaws(made)) == []
    assert made["runs"][0]["results"] == []
    assert made["runs"][0]["invocations"][0]["executionSuccessful"]


def test_every_result_has_a_rule():
    """The rules are all findings, verdicts and other expectations, and each result names one of them."""
    seen = outcome(FINDING, violations=(BROKEN,), verdict=Livelock(stem=1, period=1))
    run = whole(found(seen))["runs"][0]
    rules = run["tool"]["driver"]["rules"]

    assert {code.code for code in catalogue()} < {rule["id"] for rule in rules}
    assert len({rule["id"] for rule in rules}) == len(rules)
    assert [(each["ruleId"], each["level"]) for each in run["results"]] == [
        ("livelock", "error"),
        ("HH005", "warning"),
    ]
    assert all(rules[each["ruleIndex"]]["id"] == each["ruleId"] for each in run["results"])
    assert all(len(rule["shortDescription"]["text"]) <= 1024 for rule in rules)


def test_places_are_relative_to_the_repository():
    """A verdict is at the line of its expectation, a finding at its script and then at the scenario."""
    seen = outcome(FINDING, violations=(BROKEN,), verdict=Livelock(stem=1, period=1))

    verdict, finding = found(seen, SarifLocation(ROOT / "hooks" / "check.sh"))

    base = {"uriBaseId": "%SRCROOT%"}
    written = {"uri": "hook%20scenarios/lint.scenario.yaml", **base}
    assert verdict["locations"][0]["physicalLocation"] == {
        "artifactLocation": written,
        "region": {"startLine": 9},
    }
    assert finding["locations"][0]["physicalLocation"]["artifactLocation"] == {
        "uri": "hooks/check.sh",
        **base,
    }
    assert finding["relatedLocations"][0]["physicalLocation"]["artifactLocation"] == written
    assert found(seen)[1]["locations"][0]["physicalLocation"]["region"] == {"startLine": 7}


def test_what_is_expected_is_no_result():
    """A finding or a verdict that the scenario expects is no defect."""
    expect = Expectation(verdict="livelock", findings=("CRASHED",))

    assert found(outcome(FINDING, verdict=Livelock(stem=1, period=1), expect=expect)) == []


def test_fingerprints_last():
    """A result keeps its fingerprint when times, texts and lines change, and no other result has it."""

    def prints(text, line, *others):
        origin = Origin(file=FILE, marks={"expect": (line, 3), "expect.verdict": (line + 1, 5)})
        finding = CRASHED.found(text, hook="./check.sh")
        seen = outcome(finding, *others, violations=(BROKEN,), origin=origin)
        made = whole(found(seen))["runs"][0]["results"]
        return [each["partialFingerprints"]["primaryLocationLineHash"] for each in made]

    before = prints("exit code 1 after 5 ms", 7)
    assert prints("exit code 2 after 9 ms", 30) == before
    more = prints("x", 7, CRASHED.found("y", hook="./check.sh"), HUNG_HOOK.found("z", hook="./check.sh"))
    assert more[:2] == before
    assert len(set(more)) == 4
    assert all(re.fullmatch(r"[0-9a-f]{32}:\d", each) for each in more)


def test_messages_are_hostile_text():
    """What a hook says neither becomes a link nor moves a cursor."""
    (result,) = found(outcome(CRASHED.found("[click](https://bad.example) \x1b[31m\n", hook="./x")))

    assert "](" not in result["message"]["text"]
    assert not re.search(r"[\x00-\x1f]", result["message"]["text"])


@pytest.mark.parametrize(
    ("command", "file", "line"),
    [
        ("./check.sh --fast", "lint.scenario.yaml", 3),
        ('python3 -B "$CLAUDE_PROJECT_DIR"/hooks/rules.py', "project/hooks/rules.py", 1),
        ("{root}/beside.sh", "beside.sh", 1),
        ("/etc/hostname", None, 0),
        ("../outside.sh", None, 0),
        ("echo 'unclosed", None, 0),
        ("ruff check .", None, 0),
        (f"python3 -c '{'pass;' * 80}'", None, 0),
    ],
)
def test_scripts_are_found(tmp_path, command, file, line):
    """The script of a command is looked for in the repository alone."""
    root = tmp_path / "root"
    for name in ("project/hooks/rules.py", "beside.sh", "lint.scenario.yaml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (tmp_path / "outside.sh").touch()
    origin = Origin(file=root / "lint.scenario.yaml", marks=ORIGIN.marks)
    scenario = Scenario(name="lint", origin=origin, project=root / "project")

    place = find_script(command.format(root=root), scenario, root)

    assert place == (SarifLocation(root / file, line) if file else None)
