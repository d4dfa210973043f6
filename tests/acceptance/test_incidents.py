"""Claims about incident reports, by the option of pytest and by the shell command."""

import subprocess
import sys

import pytest

from pytest_hookharness.frontends.cli import main
from pytest_hookharness.frontends.option_types import OptionError, make_folder
from pytest_hookharness.frontends.output import simulation_files

STUBBORN = "echo 'run never' >&2; exit 2"
TEST = "def test_it(hook_loop):\n    assert hook_loop(Stop='echo mine >&2; exit 2').terminated\n"


@pytest.mark.nightly
def test_each_failed_item_has_an_incident_report(project):
    """With two workers each failed item leaves a report and each item a trace, in new folders."""
    project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN)
    project.write("test_it.py", TEST)

    folders = ("--hook-incident-dir", "notes/of today", "--hook-trace-dir", "traces")
    result = project.run("--hook-scenarios", ".", "-n", "2", *folders)

    result.assert_outcomes(passed=1, failed=2)
    traces = [path.read_text().splitlines() for path in (project.path / "traces").iterdir()]
    assert [lines[-1].startswith('{"record":"end"') for lines in traces] == [True] * 3
    folder = project.path / "notes" / "of today"
    result.stdout.fnmatch_lines([f"hook harness: 2 incident reports written to {folder}"])
    texts = {path.name: path.read_text() for path in folder.iterdir()}
    assert len(texts) == 2
    (scenario,) = (text for name, text in texts.items() if name.startswith("scenarios-stubborn"))
    (test,) = (text for name, text in texts.items() if name.startswith("test-it-py-test-it"))
    assert "hookharness run 'scenarios/stubborn.scenario.yaml::stubborn[claude-code]'" in scenario
    assert "pytest test_it.py::test_it --hook-seed 0" in test
    assert "mine" in test
    assert all(text.count("\n### ") == 7 for text in texts.values())


def test_a_report_folder_that_cannot_be_made(project):
    """A folder that cannot be made is a usage error that names it, before anything is played."""
    project.write("taken", "")

    result = project.run("--hook-incident-dir", "taken")

    assert result.ret == 4
    result.stderr.fnmatch_lines(["*--hook-incident-dir: */taken cannot be made (File exists)*"])


@pytest.mark.nightly
def test_a_report_about_an_expected_loop(project):
    """The shell command writes a report about any result, and never overwrites a file."""
    project.scenario("stubborn", body=STUBBORN, verdict="livelock")

    def run(*more):
        command = [
            sys.executable,
            "-m",
            "pytest_hookharness",
            "run",
            "scenarios/stubborn.scenario.yaml",
        ]
        return subprocess.run(
            [*command, *more], capture_output=True, text=True, cwd=project.path, check=False
        )

    written, again = run("--incident", "incident.md"), run("--incident", "incident.md")

    assert [written.returncode, again.returncode] == [0, 2]
    text = (project.path / "incident.md").read_text()
    assert text.startswith("## 2")
    assert ": livelock in `stubborn[claude-code]`\n" in text
    assert text.count("\n### ") == 7
    assert "incident.md exists already" in again.stderr


def test_reports_of_other_runs_stay(tmp_path):
    """A second report about an item gets a new name, and no two items share a name."""
    first = simulation_files.write_incident(tmp_path, "a.py::test[../../x]", "one")
    second = simulation_files.write_incident(tmp_path, "a.py::test[../../x]", "two")
    other = simulation_files.write_incident(tmp_path, "a.py::test[../..-x]", "three")

    assert [path.read_text() for path in (first, second, other)] == ["one", "two", "three"]
    assert {path.parent for path in (first, second, other)} == {tmp_path}


def test_a_report_needs_a_folder(project, capsys, monkeypatch):
    """A folder without a name, or one that does not exist, is an error before anything is played."""
    monkeypatch.chdir(project.path)
    project.scenario("polite")
    with pytest.raises(OptionError, match="--hook-incident-dir: names no folder"):
        make_folder("", "--hook-incident-dir", below=project.path)

    assert main.main(["run", "scenarios/polite.scenario.yaml", "--incident", "nodir/e.md"]) == 2
    assert "hookharness: --incident: nodir is not a folder" in capsys.readouterr().err
