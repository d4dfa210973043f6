"""Claims about trace files: what they contain after any end of a run, and how they are read back."""

import base64
import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

import pytest_hookharness
from pytest_hookharness.frontends.cli import main, report
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.model.verdicts import Terminated
from pytest_hookharness.reports.trace import records as trace_records
from pytest_hookharness.reports.trace.schema import schema

SHIPPED = Path(pytest_hookharness.__path__[0]) / "trace.schema.json"
SCENARIOS = Path(__file__).parents[2] / "scenarios"
VALIDATOR = jsonschema.Draft202012Validator(schema())
STUBBORN = "echo 'run never' >&2; exit 2"
# The first stop is refused, and the hook of the second one never comes back.
STUCK = "grep -q '\"stop_hook_active\":true' && exec sleep 300; echo 'not yet' >&2; exit 2"
PLUGINS = ("-p", "no:faker", "-p", "no:hypothesispytest", "-p", "no:cacheprovider")
TEST = "def test_it(hook_loop):\n    assert hook_loop(Stop='echo mine >&2; exit 2').livelock\n"


def records(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.slow
def test_the_shipped_schema_is_the_exported_one():
    """The file in the package is what the code has; `nox -s pages` writes it anew."""
    assert json.loads(SHIPPED.read_text(encoding="utf-8")) == schema()
    jsonschema.Draft202012Validator.check_schema(schema())


@pytest.mark.nightly
def test_every_simulation_has_a_file(project):
    """Each item of a scenario file, and each simulation of a Python test, is written down as a whole."""
    project.scenario("polite")
    project.scenario("stubborn", body=STUBBORN)
    project.write("test_it.py", TEST + "    hook_loop(Stop='exit 0')\n")

    result = project.run("--hook-scenarios", ".", "--hook-trace-dir", "traces of/today")

    folder = project.path / "traces of" / "today"
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines([f"hook harness: trace files are in {folder}; hookharness report reads them"])
    runs = {file.name: records(file) for file in folder.iterdir()}
    lines = [line for run in runs.values() for line in run]
    assert [name[:12] for name in sorted(runs)] == [
        "scenarios-po",
        "scenarios-st",
        "test-it-py-t",
        "test-it-py-t",
    ]
    assert {run[0]["id"] for run in runs.values()} == {
        "test_it.py::test_it",
        "scenarios/polite.scenario.yaml::polite[claude-code]",
        "scenarios/stubborn.scenario.yaml::stubborn[claude-code]",
    }
    assert [VALIDATOR.is_valid(line) for line in lines] == [True] * len(lines)
    assert {(run[0]["record"], run[-1]["record"]) for run in runs.values()} == {("begin", "end")}
    stubborn = next(run for name, run in runs.items() if "stubborn" in name)
    assert [line["words"] for line in stubborn if line.get("kind") == "hook-event"] == ["Stop: refused"] * 3
    assert {line["turn"]: line["digest"] for line in stubborn if line["record"] == "state"}.keys() == {
        1,
        2,
        3,
    }
    assert stubborn[-1]["verdict"]["name"] == "livelock"
    assert stubborn[0]["hooks"][0]["command"] == "./hook.sh"


@pytest.mark.slow
def test_without_the_option_nothing_is_written(project):
    """A run without the option leaves no trace."""
    project.scenario("polite")

    project.run("--hook-scenarios")

    assert list(project.path.rglob("*.jsonl")) == []


@pytest.mark.nightly
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_what_was_seen_outlives_the_run(project, number, capsys):
    """A run that is killed, or interrupted, while a hook runs leaves all steps before that in its file."""
    project.scenario("stuck", body=STUCK)
    command = [sys.executable, "-m", "pytest", *PLUGINS, "--hook-scenarios", "--hook-trace-dir", "traces"]
    pytest_run = subprocess.Popen(
        [*command, "--hook-timeout", "100s"], cwd=project.path, stdout=subprocess.DEVNULL
    )
    try:
        file = first_file(project.path / "traces", pytest_run)
        while b'"turn":2,' not in file.read_bytes():
            assert pytest_run.poll() is None
            select.select((), (), (), 0.01)
        os.kill(pytest_run.pid, number)
    finally:
        pytest_run.wait(timeout=60)

    seen = records(file)
    assert [line["words"] for line in seen if line.get("kind") == "hook-event"] == ["Stop: refused"]
    assert [line["words"] for line in seen if line.get("kind") == "moved"] == ['stops: "Done."'] * 2
    assert seen[-1]["record"] == ("step" if number == signal.SIGKILL else "end")
    assert main.main(["report", str(file.parent)]) == (2 if number == signal.SIGKILL else 1)
    assert ("interrupted" in capsys.readouterr().out) is (number == signal.SIGKILL)


def first_file(folder, process):
    while not (folder.is_dir() and any(folder.iterdir())):
        assert process.poll() is None
        select.select((), (), (), 0.01)
    return next(folder.iterdir())


HIDDEN = "fox-and-owl-1234"
SECRETIVE = """\
name: secretive
files: {.netrc: "password SECRET\\n"}
env: {DEPLOY_TOKEN: SECRET}
hooks:
  Stop: >-
    echo "{\\"decision\\": \\"block\\", \\"reason\\": \\"say $DEPLOY_TOKEN\\"}";
    cat .netrc >&2; printf %s "$DEPLOY_TOKEN" | base64 > state; cat .netrc >> state
agent:
  - prompt: my key is SECRET
  - run: echo SECRET $OF_THE_RUN
  - edit: {file: note, text: SECRET}
  - stop: SECRET
expect: {verdict: terminated, reasons: [say SECRET]}
""".replace("SECRET", HIDDEN)


@pytest.mark.slow
def test_no_secret_is_written(project, monkeypatch):
    """Secrets of the scenario and of the run's own environment are in no trace file or incident report."""
    monkeypatch.setenv("CI_JOB_TOKEN", "stop_hook_")
    project.scenario("secretive", text=SECRETIVE)

    result = project.run("--hook-scenarios", "--hook-trace-dir", "traces", "--hook-incident-dir", "entries")

    result.assert_outcomes(failed=1)
    ((file,), (entry,)) = ([*(project.path / name).iterdir()] for name in ("traces", "entries"))
    (hook_run,) = next(line for line in records(file) if line.get("kind") == "hook-event")["hook_runs"]
    assert hook_run["reply"]["reason"]["text"] == "say [redacted: DEPLOY_TOKEN]"
    assert '"[redacted: CI_JOB_TOKEN]active":false' in hook_run["stdin"]["text"]
    assert all(VALIDATOR.is_valid(line) for line in records(file))
    for text in (file.read_text(), entry.read_text()):
        assert "say [redacted: DEPLOY_TOKEN]" in text
        assert HIDDEN not in text
        assert base64.b64encode(HIDDEN.encode()).decode()[:12] not in text


@pytest.mark.slow
def test_the_shell_writes_and_reads_traces(project, capsys, monkeypatch):
    """``report`` prints the files of ``try --trace-dir`` as a table or incident reports, with a status."""
    monkeypatch.chdir(project.path)

    assert main.main(["try", "Stop", "echo no >&2; exit 2", "--trace-dir", "traces"]) == 1
    capsys.readouterr()
    assert main.main(["report", "traces"]) == 1
    printed = capsys.readouterr().out
    assert main.main(["report", "traces", "--format", "incident", "-o", "all.md"]) == 1
    assert main.main(["report", "traces", "--format", "incident", "-o", "all.md"]) == 2

    assert "1 simulation: 1 failed" in printed
    assert "livelock in `try[claude-code]`" in (project.path / "all.md").read_text()
    assert "all.md" in capsys.readouterr().err
    (file,) = (project.path / "traces").iterdir()
    (begin, *_) = records(file)
    assert (begin["front_end"], begin["id"], begin["file"]) == ("hookharness", "try[claude-code]", None)
    assert begin["replay_command"].startswith("hookharness try Stop 'echo no >&2; exit 2'")


STRANGE = """\
name: strange
hooks: {Stop: exit 0}
agent: [{prompt: x}, {tool: {name: No, input: {}}}]
"""


@pytest.mark.nightly
def test_what_cannot_be_played_says_why(project):
    """A scenario that cannot be played leaves a file that says so."""
    project.scenario(
        "strange",
        text=STRANGE,
    )

    project.run("--hook-scenarios", "--hook-trace-dir", "traces")

    (file,) = (project.path / "traces").iterdir()
    seen = records(file)
    assert (seen[0]["record"], seen[-1]["record"]) == ("begin", "trouble")
    assert "cannot perform the tool 'No'" in seen[-1]["why"]["text"]


def test_folders_and_files_that_cannot_be_read(tmp_path, capsys):
    """A missing path, a folder without traces and a file that is none are errors in one line each."""
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "a.jsonl").write_text("no\n")

    said = []
    for name in ("none", ".", "bad"):
        assert main.main(["report", str(tmp_path / name)]) == report.UNKNOWN
        said.append(capsys.readouterr().err)

    assert "does not exist" in said[0]
    assert "has no trace file (*.jsonl)" in said[1]
    assert "a.jsonl:1: is not JSON" in said[2]

    assert main.main(["report", "/dev/null"]) == report.UNKNOWN
    assert "/dev/null is neither a file nor a folder" in capsys.readouterr().err


def kept_run(text="all is well"):
    """Return the lines of a passed run with a given incident report."""
    seen = Outcome(
        scenario=Scenario(name="lint"), host="claude-code", trace=Trace(), verdict=Terminated(turn=1)
    )
    occasion = trace_records.TraceHeader(id="lint", front_end="pytest", host="claude-code")
    made = [trace_records.begin(seen.scenario, occasion), trace_records.end(seen, incident=text)]
    return "".join(f"{json.dumps(record)}\n" for record in made)


def test_a_run_that_was_killed_at_once_is_unknown(tmp_path, capsys):
    """A file without a complete line is a run without an end, and makes the exit status 2."""
    (tmp_path / "kept.jsonl").write_text(kept_run())
    assert main.main(["report", str(tmp_path)]) == report.PASSED
    capsys.readouterr()
    (tmp_path / "killed\x1b[31m.jsonl").write_text('{"record": "beg')

    assert main.main(["report", str(tmp_path)]) == report.UNKNOWN
    assert "killed\\x1b[31m.jsonl: has no complete line" in capsys.readouterr().out


def test_an_incident_report_from_elsewhere_is_only_text(tmp_path, capsys):
    """Characters that act on a terminal are escaped if a report is read back; its blanks stay."""
    text = kept_run("# one\n\n    two   three \x1b]0;four\x07\n").replace('"passed": true', '"passed": false')
    (tmp_path / "a.jsonl").write_text(text)

    assert main.main(["report", str(tmp_path), "--format", "incident"]) == report.FAILED
    assert capsys.readouterr().out == "# one\n\n    two   three \\x1b]0;four\\x07\n\n"


@pytest.mark.nightly
def test_shipped_scenarios_fit_the_schema(tmp_path, capsys):
    """The trace files of shipped scenarios fit the schema, and are read back without loss."""
    items = [
        "pitfalls/order/order.scenario.yaml::order[with-the-pitfall-claude-code]",
        "process-hooks/on-exit.scenario.yaml::on-exit[claude-code]",
        "gate-of-the-child/gate-of-the-child.scenario.yaml::gate-of-the-child[claude-code]",
        "asked-for-a-name/asked-for-a-name.scenario.yaml::asked-for-a-name[nobody-answers-gemini-cli]",
        "child-keeps-stdout/child-keeps-stdout.scenario.yaml::child-keeps-stdout[refusal-lost-codex]",
    ]
    for item in items:
        main.main(["run", str(SCENARIOS / item), "--trace-dir", str(tmp_path)])
    capsys.readouterr()

    lines = [line for file in tmp_path.iterdir() for line in records(file)]
    assert [error.message for line in lines for error in VALIDATOR.iter_errors(line)] == []
    assert main.main(["report", str(tmp_path)]) in (0, 1)
    assert f"{len(items)} simulations" in capsys.readouterr().out
