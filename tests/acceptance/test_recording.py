"""
Claims about ``hookharness record`` and ``hookharness init``, with real processes.
"""

import json
import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pytest_hookharness

SETTINGS = """\
{
  "hooks": {
    "Stop": [ {"hooks": [{"type": "command",   "command": "./hook.sh \\"a b\\""}]} ]
  }
}
"""
VALUE = "not-to-be-told-to-anybody"
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
                [sys.executable, "-m", "pytest_hookharness.cli", "record"],
                cwd=tmp_path,
                stdout=subprocess.PIPE,
                text=True,
            )
            while "start the agent" not in process.stdout.readline():
                assert process.poll() is None
            return process

        def fire(self, **env):
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


def test_a_recorded_hook_runs_as_ever(recorded):
    """While hooks are recorded they answer as ever, and what they were given is kept without secrets."""
    process = recorded.begin()
    ran = recorded.fire(MY_API_TOKEN=VALUE)
    process.send_signal(signal.SIGINT)
    told, _ = process.communicate(timeout=20)

    assert (ran.returncode, ran.stdout, ran.stderr) == (2, "a b\n", "why\n")
    assert json.loads((recorded.path / "seen.json").read_text()) == PAYLOAD
    assert (recorded.path / ".claude" / "settings.json").read_text() == SETTINGS
    assert "1 payload in" in told
    (record,) = recorded.records()
    assert (record["event"], record["exit"]) == ("Stop", 2)
    assert record["payload"] == {**PAYLOAD, "note": "the token is [redacted: MY_API_TOKEN]"}


def test_settings_are_put_back_after_a_crash(recorded):
    """Settings are as they were, byte for byte, though the recording process was killed."""
    process = recorded.begin()
    meanwhile = (recorded.path / ".claude" / "settings.json").read_text()
    process.kill()
    process.communicate(timeout=20)

    assert meanwhile != SETTINGS
    assert recorded.restored()


@pytest.mark.slow
def test_changes_made_meanwhile_stay(recorded):
    """What was changed in the settings while hooks were recorded stays, and the commands are put back."""
    settings = recorded.path / ".claude" / "settings.json"
    process = recorded.begin()
    settings.write_text(settings.read_text().replace('{\n  "hooks"', '{\n  "model": 1,\n  "hooks"'))
    process.send_signal(signal.SIGTERM)
    told, _ = process.communicate(timeout=20)

    assert settings.read_text() == SETTINGS.replace('{\n  "hooks"', '{\n  "model": 1,\n  "hooks"')
    assert "was changed meanwhile" in told


def test_a_hook_that_a_signal_ends(tmp_path):
    """A recorded hook ends by the signal that ended it, also if its input is never closed."""
    recorder = Path(pytest_hookharness.__file__).with_name("recorder.py")
    process = subprocess.Popen(
        [sys.executable, "-P", recorder, tmp_path / "kept", "/bin/sh", "-c", "kill -KILL $$"],
        stdin=subprocess.PIPE,
    )
    with process:
        code = process.wait(timeout=20)

    assert code == -signal.SIGKILL
    (record,) = [json.loads(file.read_text()) for file in (tmp_path / "kept").iterdir()]
    assert (record["exit"], record["payload"]) == (-9, "")


def test_first_scenarios_play(project):
    """The scenarios that init writes for a repository load, are played, and are never written over."""
    subprocess.run(["git", "init", "-q", project.path], check=True)
    project.write(
        ".claude/settings.json", '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}]}}'
    )
    command = [sys.executable, "-m", "pytest_hookharness.cli", "init"]

    first, second = (
        subprocess.run(command, cwd=project.path, capture_output=True, text=True, check=True)
        for _ in range(2)
    )

    assert (first.stdout.count("wrote "), second.stdout.count("kept ")) == (3, 3)
    project.run("--hook-scenarios").assert_outcomes(passed=3)
