"""Claims about ``hookharness calibrate``: what it refuses, and questions to an installed program."""

import json
import os
from pathlib import Path

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.frontends.cli.main import main


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
    """Some questions to an installed program are answered as its profile does, and the answers are stored."""
    profile = hosts.find("codex")
    folder = os.environ.get("HOOKHARNESS_LIVE", "")
    if not folder or not Path(folder, profile.id).is_dir():
        pytest.skip(f"HOOKHARNESS_LIVE names no folder with {profile.id}; nox -s live installs it")
    facts = tmp_path / "facts.json"

    assert (
        calibrate("codex", "--only", "PreToolUse: exit 2", "--facts", facts, "--write", tmp_path / "p") == 0
    )
    assert "2 questions: 2 same, 0 different, 0 not reached" in capsys.readouterr().out
    (stored,) = json.loads(facts.read_text())
    assert (stored["version"], stored["profile"], len(stored["same"])) == ("0.169.0", profile.id, 2)
