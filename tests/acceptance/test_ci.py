"""Claims about what a run reports to programs: GitHub, readers of JUnit files and of the exit status."""

import json
import re
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from pytest_hookharness.frontends.pytest_plugin import options

STUBBORN = "echo 'run never' >&2; exit 2"
TEST = """
def test_it(hook_loop):
    assert hook_loop(Stop="echo 'run never' >&2; exit 2").passed
"""


@pytest.fixture
def on_github(monkeypatch, project):
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_WORKSPACE", str(project.path.parent))
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(project.path / "summary.md"))
    return project.path / "summary.md"


@pytest.mark.slow
def test_github_annotations_have_a_line(project, on_github):
    """Each failure is an annotation at the line of its expectation, and the summary has its whole text."""
    file = project.scenario("stubborn", body=STUBBORN)
    project.scenario("polite")
    project.scenario("typo", verdict="terminatd")
    on_github.write_text("before\n")
    line = 1 + file.read_text().splitlines().index("  verdict: terminated")

    result = project.run("--hook-scenarios", "--continue-on-collection-errors", "--hook-durations=0")

    annotations = [row for row in result.outlines if row.startswith("::")]
    where = f"::error file={project.path.name}/scenarios"
    result.stdout.re_match_lines(
        [r" *p50 +p95 +of timeout +runs +event +hook$", r".* %  +5  Stop   \./hook\.sh$"]
    )
    assert len(annotations) == 2
    assert re.match(re.escape(f"{where}/typo.scenario.yaml,line={line},title="), annotations[0])
    assert annotations[1].startswith(
        f"{where}/stubborn.scenario.yaml,line={line},"
        "title=scenarios/stubborn.scenario.yaml%3A%3Astubborn[claude-code]::"
        "livelock: Stop is blocked forever by ./hook.sh (state repeats every turn after turn 1; "
    )
    summary = on_github.read_text()
    assert summary.startswith("before\n## Hook scenarios\n")
    assert "| `polite` | `claude-code@2.1.329` | 2 | 1 | terminated |" in summary
    assert "replay: hookharness run 'scenarios/stubborn.scenario.yaml::stubborn[claude-code]'" in summary
    assert summary.count("<details>") == 2


UNSURE = """
import pytest
def test_endless(hook_loop):
    assert hook_loop(Stop="echo 'run never' >&2; exit 2").livelock
@pytest.mark.xfail
def test_expected(hook_loop):
    assert hook_loop(Stop="echo 'run never' >&2; exit 2").terminated
"""


@pytest.mark.slow
def test_a_test_in_python_decides_about_its_simulation(project, on_github):
    """In the summary a simulation of a test is passed if the test passed, else unknown."""
    project.write("test_it.py", UNSURE)

    project.run("test_it.py").assert_outcomes(passed=1, xfailed=1)

    lines = on_github.read_text().splitlines()
    assert "2 simulations: 1 as expected, 1 unknown" in lines
    assert [line.split()[-2] for line in lines if "test_it.py::" in line] == ["passed", "unknown"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "call", ["hook_loop(Stop='exit 0').blocks()", "len(hook_fire('Stop', 'exit 0').stdout)"]
)
def test_what_only_a_test_knows_is_a_result(project, call):
    """A Python test that fails although its simulation or its event ends normally is a result at the test."""
    project.write("test_it.py", f"def test_it(hook_loop, hook_fire):\n    assert {call} == 1\n")

    project.run("test_it.py", "--hook-sarif=r.sarif").assert_outcomes(failed=1)

    (found,) = json.loads((project.path / "r.sarif").read_text())["runs"][0]["results"]
    assert (found["ruleId"], spot(found)) == ("expectation", ("test_it.py", 1))
    assert found["message"]["text"] == "the test failed: AssertionError: assert 0 == 1"


def test_a_number_of_slow_hooks_is_none_or_more(pytestconfig, monkeypatch):
    """Fewer slow hooks than none are a usage error that names the option."""
    monkeypatch.setattr(pytestconfig.option, "hook_durations", -1)

    with pytest.raises(pytest.UsageError, match="--hook-durations: '-1' is not a whole number of 0 or more"):
        options.settings(pytestconfig)


@pytest.mark.nightly
def test_only_the_controller_writes_for_machines(project, on_github):
    """Under xdist only the controller writes for GitHub, and JUnit has the properties of each simulation."""
    for number in range(2):
        project.scenario(f"polite{number}")
    project.scenario("stubborn", body=STUBBORN)
    project.write("scenarios/test_python.py", TEST)

    result = project.run(
        "--hook-scenarios", "-n", "2", "--junitxml=r.xml", "--hook-sarif=r.sarif", "scenarios"
    )

    result.assert_outcomes(passed=2, failed=2)
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    annotations = [row for row in result.outlines if row.startswith("::error ")]
    assert sorted(re.findall(r"/scenarios/([\w.]+),line=(\d+)", "\n".join(annotations))) == [
        ("stubborn.scenario.yaml", "12"),
        ("test_python.py", "3"),
    ]
    assert on_github.read_text().count("## Hook scenarios") == 1
    assert "| `scenarios/test_python.py::test_it` |" in on_github.read_text()
    sarif = json.loads((project.path / "r.sarif").read_text())["runs"][0]
    assert sorted((each["ruleId"], spot(each)) for each in sarif["results"]) == [
        ("livelock", (f"{project.path.name}/scenarios/stubborn.scenario.yaml", 12)),
        ("livelock", (f"{project.path.name}/scenarios/test_python.py", 2)),
    ]
    assert [spot(each, "relatedLocations") for each in sarif["results"] if "relatedLocations" in each] == [
        (f"{project.path.name}/scenarios/stubborn.scenario.yaml", 4)
    ]
    assert sarif["invocations"][0]["executionSuccessful"]
    cases = junit(project.path / "r.xml")
    assert (
        cases["polite0[claude-code]"].items()
        >= {
            "hook.verdict": "terminated",
            "hook.iterations": "2",
            "hook.blocks": "1",
            "hook.leftovers": "0",
        }.items()
    )
    assert float(cases["polite0[claude-code]"]["hook.p95_ms"]) > 0
    assert "hook.period" not in cases["polite0[claude-code]"]
    for endless in ("stubborn[claude-code]", "test_it"):
        assert cases[endless].items() >= {"hook.verdict": "livelock", "hook.period": "1"}.items()


def spot(result, which="locations"):
    place = result[which][0]["physicalLocation"]
    return place["artifactLocation"]["uri"], place["region"]["startLine"]


def junit(file: Path) -> dict[str, dict[str, str]]:
    """The properties of each case of a report that has the form which readers of JUnit files agree on."""
    root = ET.fromstring(file.read_text())  # noqa: S314 - pytest itself wrote it
    assert root.tag == "testsuites"
    found = {}
    for suite in root:
        assert suite.tag == "testsuite"
        assert {"name", "tests", "failures", "errors"} <= suite.attrib.keys()
        cases = suite.findall("testcase")
        assert int(suite.attrib["tests"]) <= len(cases)
        for case in cases:
            assert {"name", "classname", "time"} <= case.attrib.keys()
            assert {child.tag for child in case} <= {"properties", "failure", "error", "skipped"} | {
                "system-out",
                "system-err",
            }
            (properties,) = case.findall("properties")
            pairs = [(each.attrib["name"], each.attrib["value"]) for each in properties]
            assert all(
                each.tag == "property" and each.attrib.keys() == {"name", "value"} for each in properties
            )
            assert len(dict(pairs)) == len(pairs), "a property stands twice"
            found[case.attrib["name"]] = dict(pairs)
    return found


@pytest.mark.nightly
def test_a_rerun_has_its_properties_once(project):
    """An item that was rerun has the properties of its last run, and one annotation."""
    pytest.importorskip("pytest_rerunfailures")
    project.scenario("stubborn", body=STUBBORN)

    result = project.run_apart("--hook-scenarios", "--hook-github", "--reruns", "1", "--junitxml=report.xml")

    result.stdout.fnmatch_lines(["*1 failed, 1 rerun*"])
    assert len([row for row in result.outlines if row.startswith("::error ")]) == 1
    assert "hook.verdict" in junit(project.path / "report.xml")["stubborn[claude-code]"]


@pytest.mark.parametrize(
    ("verdict", "option", "status"),
    [
        ("terminated", (), pytest.ExitCode.OK),
        ("terminatd", (), pytest.ExitCode.INTERRUPTED),
        ("terminated", ("-k", "nothing"), pytest.ExitCode.NO_TESTS_COLLECTED),
    ],
)
@pytest.mark.nightly
def test_the_exit_status_is_that_of_pytest(project, verdict, option, status):
    """Passed and unreadable expectations, and no scenario at all, have the exit status of such tests."""
    project.scenario("polite", verdict=verdict)

    assert project.run("--hook-scenarios", "--hook-sarif=r.sarif", *option).ret == status
    (run,) = json.loads((project.path / "r.sarif").read_text())["runs"]
    assert run["invocations"][0]["exitCode"] == status
    assert run["invocations"][0]["executionSuccessful"] == (status in (0, 1))
    assert run["results"] == []
