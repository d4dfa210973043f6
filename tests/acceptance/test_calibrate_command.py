"""Claims about ``hookharness calibrate``: what it refuses, and questions to an installed program."""

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.frontends.cli.main import main
from pytest_hookharness.hosts.profiles.shared import Calibration


def calibrate(*words):
    """Call the command; returns its exit status."""
    return main(["calibrate", *map(str, words)])


def test_without_a_folder_of_programs(monkeypatch, capsys):
    """Without a program the status is 2, with the command that installs it."""
    monkeypatch.delenv("HOOKHARNESS_LIVE", raising=False)

    assert calibrate("codex") == 2
    said = capsys.readouterr().err
    assert "--programs or HOOKHARNESS_LIVE" in said
    assert "npm install --prefix FOLDER/codex@0.169.0 @openai/codex@0.169.0" in said


@pytest.mark.parametrize(
    "words, said",
    [
        (["cursor"], "no program of 'cursor' is known; expected claude-code, codex"),
        (["codex", "--only", "nothing"], "--only: no question about codex@0.169.0 contains 'nothing'"),
    ],
)
def test_what_cannot_be_asked(words, said, capsys):
    """An unknown program, and a choice of no question, are errors that say what is expected."""
    assert calibrate(*words) == 2
    assert said in capsys.readouterr().err


@pytest.mark.slow
def test_questions_to_a_real_program(tmp_path, capsys):
    """
    The answers of an installed program are stored; earlier ones stay with facts whose words have changed.
    """
    profile = hosts.find("codex")
    folder = os.environ.get("HOOKHARNESS_LIVE", "")
    if not folder or not Path(folder, profile.id).is_dir():
        pytest.skip(f"HOOKHARNESS_LIVE names no folder with {profile.id}; nox -s live installs it")
    facts = tmp_path / "facts.json"
    before = Calibration(
        version="0.169.0",
        profile=profile.id,
        date="2026-01-05",
        same=("Stop: decision block", "Stop: a question of former times"),
        facts={"a hook may refuse": ("Stop: decision block",)},
    )
    facts.write_text(json.dumps([asdict(before)]))

    assert (
        calibrate(
            "codex", "--only", "PreToolUse: exit 2, silent", "--facts", facts, "--write", tmp_path / "p"
        )
        == 0
    )
    assert "1 question: 1 same, 0 different, 0 not reached" in capsys.readouterr().out
    (stored,) = json.loads(facts.read_text())
    assert (stored["version"], stored["profile"], len(stored["same"])) == ("0.169.0", profile.id, 2)
    rule = hosts.find("codex").replies.rules["answer"]
    assert "Stop: decision block" in stored["facts"][rule.text]
    assert "a hook may refuse" not in stored["facts"]
