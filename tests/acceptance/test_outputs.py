"""Claims about the output files and folders of shell commands."""

import json

import pytest

from pytest_hookharness.frontends.cli import main

ANSWER = "name a folder that can be written"


@pytest.fixture
def here(tmp_path, monkeypatch):
    """An empty trace file, and settings with a hook, in the current folder."""
    (tmp_path / "a.jsonl").write_text("")
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(json.dumps({"hooks": hooks}))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("option", "words"),
    [
        ("--output", ("report", "a.jsonl", "-o", "/sys/page.html")),
        ("--incident", ("run", "a.scenario.yaml::a[claude-code]", "--incident", "/sys/incident.md")),
        ("--output", ("record", "-o", "/sys")),
        ("--output", ("record", "-o", "a.jsonl")),
    ],
)
def test_an_output_that_cannot_be_written(here, capsys, option, words):
    """A file or folder that cannot be made is an error of one sentence that says what to do."""
    (here / "a.scenario.yaml").write_text("name: a\nhooks: {Stop: [exit 0]}\n")
    assert main.main(words) == 2
    said = capsys.readouterr().err
    assert said.startswith(f"hookharness: {option}: ")
    assert ANSWER in said
    assert "Errno" not in said


def test_a_report_that_exists(here, capsys):
    """A report never overwrites a file, and the error asks for another one."""
    assert main.main(["report", "a.jsonl", "-o", "a.jsonl"]) == 2
    assert "name another file, or move it away" in capsys.readouterr().err
