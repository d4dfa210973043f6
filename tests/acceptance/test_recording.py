"""Claims about ``hookharness record`` and ``hookharness init``, with real processes."""

import json
import os
import select
import shlex
import signal
import subprocess
import sys
from hashlib import sha256

import pytest

from pytest_hookharness.frontends.cli import main
from pytest_hookharness.frontends.cli import record as recording
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

SETTINGS = """\
{
  "hooks": {
    "Stop": [ {"hooks": [{"type": "command",   "command": "./hook.sh \\"a b\\""}]} ]
  }
}
"""
RUN = shlex.join([sys.executable, "-P", str(recording.RECORDER)])
VALUE = "not-to-be-shown-to-anybody"
PAYLOAD = {"hook_event_name": "Stop", "session_id": "s", "note": f"the token is {VALUE}"}


@pytest.fixture
def recorded(tmp_path):
    """A project with a hook, and a way to record it."""
    (tmp_path / ".claude").mkdir()
    settings = tmp_path / ".claude" / "settings.json"
    settings.write_text(SETTINGS)
    hook = tmp_path / "hook.sh"
    hook.write_text('#!/bin/sh\ncat > seen.json\necho "$1"\necho why >&2\nexit 2\n')
    hook.chmod(0o755)

    class Recorded:
        path = tmp_path

        def begin(self):
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "pytest_hookharness", "record"],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                text=True,
            )
            while "start the agent" not in process.stdout.readline():
                assert process.poll() is None
            return process

        def run_hook(self, **env):
            (entry,) = json.loads(settings.read_text())["hooks"]["Stop"][0]["hooks"]
            return subprocess.run(
                ["/bin/sh", "-c", entry["command"]],
                cwd=tmp_path,
                env={**os.environ, **env},
                input=json.dumps(PAYLOAD),
                capture_output=True,
                text=True,
                check=False,
            )

        def restored(self):
            for _ in range(2000):
                if settings.read_text() == SETTINGS:
                    return True
                select.select([], [], [], 0.01)
            return False

        def records(self):
            files = sorted((tmp_path / "hook-recordings").glob("*-*.json"))
            return [json.loads(file.read_text()) for file in files]

    return Recorded()


def test_a_recorded_hook_runs_as_usual(recorded):
    """Recorded hooks answer as usual, and their payloads are stored without secrets."""
    process = recorded.begin()
    ran = recorded.run_hook(MY_API_TOKEN=VALUE)
    process.send_signal(signal.SIGINT)
    printed, _ = process.communicate(timeout=20)

    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "a b\n", "why\n")
    assert json.loads((recorded.path / "seen.json").read_text()) == PAYLOAD
    assert (recorded.path / ".claude" / "settings.json").read_text() == SETTINGS
    assert "1 payload in" in printed
    (record,) = recorded.records()
    assert (record["event"], record["exit"]) == ("Stop", 2)
    assert record["payload"] == {**PAYLOAD, "note": "the token is [redacted: MY_API_TOKEN]"}


def test_settings_are_restored_after_a_crash(recorded):
    """Settings are restored byte for byte if the recording process is killed."""
    process = recorded.begin()
    meanwhile = (recorded.path / ".claude" / "settings.json").read_text()
    process.kill()
    process.communicate(timeout=20)

    assert meanwhile != SETTINGS
    assert recorded.restored()


def test_a_project_cannot_replace_modules_of_the_guardian(recorded):
    """Settings are restored also if the project has modules named like Python's own."""
    (recorded.path / "shlex.py").write_text("open('said', 'w').close()\nraise SystemExit\n")
    process = recorded.begin()
    process.kill()
    process.communicate(timeout=20)

    assert recorded.restored()
    assert not (recorded.path / "said").exists()


def test_hooks_are_not_recorded_twice(tmp_path):
    """Hooks that are recorded already are refused, for the second recording would put the first one back."""
    file = tmp_path / ".claude" / "settings.json"
    file.parent.mkdir()
    file.write_text(SETTINGS)
    (wrapped,) = recording.plan(tmp_path, "", tmp_path / "kept")
    file.write_bytes(wrapped.meanwhile)

    with pytest.raises(SimulationError, match="its hooks are being recorded already"):
        recording.plan(tmp_path, "", tmp_path / "kept")


@pytest.fixture
def journal(tmp_path):
    """Writes a journal of changed files, as a crash of the machine during a recording leaves it."""

    def write(*names):
        folder = tmp_path / "project" / "hook-recordings"
        folder.mkdir(parents=True)
        entries = []
        for name in names:
            (tmp_path / name).write_text("meanwhile")
            digest = sha256(b"meanwhile").hexdigest()
            entry = {"file": str(tmp_path / name), "before": "before", "meanwhile": digest}
            entries.append({**entry, "keys": [], "commands": {}})
        (folder / "restore.json").write_text(json.dumps(entries))
        return folder

    return write


def test_one_file_that_cannot_be_restored_does_not_stop_the_others(journal, tmp_path, capsys):
    """Restorable files are restored; all other files are reported, and restored as soon as possible."""
    folder = journal("project/one.json", "project/two.json")
    (tmp_path / "project" / "one.json").write_bytes(b"\xff")
    command = ["record", str(tmp_path / "project"), "--restore"]

    assert main.main(command) == 2
    assert (tmp_path / "project" / "two.json").read_text() == "before"
    assert "one.json: was not restored" in capsys.readouterr().out
    (tmp_path / "project" / "one.json").write_text("meanwhile")
    assert main.main(command) == 0
    assert (tmp_path / "project" / "one.json").read_text() == "before"
    assert not list(folder.iterdir())


def test_a_journal_that_came_with_a_project_changes_nothing_else(journal, tmp_path, capsys):
    """Files outside of the project are never restored, even if the journal names them."""
    journal("project/one.json", "outside.json")

    assert main.main(["record", str(tmp_path / "project"), "--restore"]) == 2
    assert (tmp_path / "outside.json").read_text() == "meanwhile"
    assert "outside.json, which is not in" in capsys.readouterr().err


@pytest.mark.slow
def test_changes_made_meanwhile_stay(recorded):
    """Other changes of the settings during the recording stay, and the commands are restored."""
    settings = recorded.path / ".claude" / "settings.json"
    process = recorded.begin()
    settings.write_text(settings.read_text().replace('{\n  "hooks"', '{\n  "model": 1,\n  "hooks"'))
    process.send_signal(signal.SIGTERM)
    printed, _ = process.communicate(timeout=20)

    assert settings.read_text() == SETTINGS.replace('{\n  "hooks"', '{\n  "model": 1,\n  "hooks"')
    assert "was changed meanwhile" in printed


def test_a_hook_that_a_signal_ends(tmp_path):
    """A recorded hook ends by the signal that ended it, also if its input is never closed."""
    process = subprocess.Popen(
        [*shlex.split(RUN), tmp_path / "kept", "/bin/sh", "-c", "kill -KILL $$"],
        stdin=subprocess.PIPE,
    )
    with process:
        code = process.wait(timeout=20)

    assert code == -signal.SIGKILL
    (record,) = [json.loads(file.read_text()) for file in (tmp_path / "kept").iterdir()]
    assert (record["exit"], record["payload"]) == (-9, "")


def test_a_host_that_closes_the_input(tmp_path):
    """If the host closes the input, a recorded hook has an empty one, and the recorder prints no error."""
    ran = subprocess.run(
        ["/bin/sh", "-c", f"exec {RUN} {tmp_path / 'kept'} /bin/sh -c 'cat; exit 3' <&-"],
        capture_output=True,
        timeout=20,
        check=False,
    )

    assert (ran.returncode, ran.stdout, ran.stderr) == (3, b"", b"")


def test_a_recorded_hook_is_killed_with_its_recorder(tmp_path):
    """A host that kills the recorder kills the hook with it."""
    command = [*shlex.split(RUN), str(tmp_path / "kept"), "/bin/sh", "-c", "echo ready; exec sleep 60"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.readline() == b"ready\n"
        process.kill()
        # Its output ends only when the hook has ended.
        assert select.select([process.stdout], [], [], 20)[0]
        assert process.stdout.read() == b""


def test_first_scenarios_play(project):
    """The scenarios that init writes for a repository load, are played, and are never overwritten."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    project.write(
        ".claude/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    command = [sys.executable, "-m", "pytest_hookharness", "init"]

    first, second = (
        subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True)
        for _ in range(2)
    )

    assert (first.stdout.count("wrote "), second.stdout.count("kept ")) == (3, 3)
    assert "git: true" in (project.path / "scenarios" / "claude-code-idle.scenario.yaml").read_text()
    project.run("--hook-scenarios").assert_outcomes(passed=3)


@pytest.fixture
def ignoring(tmp_path):
    """A repository with hooks in a file of its own and in one that git ignores."""
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text(".claude/settings.local.json\n")
    (tmp_path / ".claude").mkdir()
    for name in ("settings.json", "settings.local.json"):
        (tmp_path / ".claude" / name).write_text(SETTINGS)
    return tmp_path


def test_first_scenarios_leave_out_ignored_hooks(ignoring, capsys):
    """First scenarios leave out the hooks that git ignores, which copies lack, and the command says so."""
    assert main.main(["init", str(ignoring)]) == 0

    assert "left out: the hooks of .claude/settings.local.json" in capsys.readouterr().out
    text = (ignoring / "scenarios" / "claude-code-idle.scenario.yaml").read_text()
    assert "The hooks of .claude/settings.json let an agent stop" in text


def test_no_scenarios_for_hooks_that_git_ignores(ignoring, capsys):
    """If git ignores all files with hooks, nothing is written."""
    (ignoring / ".claude" / "settings.json").unlink()

    assert main.main(["init", str(ignoring)]) == 2
    assert "git ignores .claude/settings.local.json, so no copy" in capsys.readouterr().err
    assert not (ignoring / "scenarios").exists()
