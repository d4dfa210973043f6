"""Claims about `hookharness analyze`."""

import json
import subprocess
import sys

import pytest

from pytest_hookharness.frontends.cli import main

USE = {"type": "tool_use", "name": "Bash"}


def transcript(path, *calls, more=""):
    """Write a transcript of Claude Code in which each command was run with the same result."""
    lines = []
    for number, command in enumerate(calls):
        block = {**USE, "id": str(number), "input": {"command": command}}
        result = {"type": "tool_result", "tool_use_id": str(number), "content": "same"}
        lines.append({"type": "assistant", "message": {"content": [block]}})
        lines.append({"type": "user", "message": {"content": [result]}})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines) + more)
    return str(path)


@pytest.mark.slow
def test_a_transcript_with_a_loop(tmp_path):
    """A loop is reported with its place, its text and what to do next, and the exit status is 1."""
    file = transcript(tmp_path / "a.jsonl", "ls", *["build", "install"] * 3, more="{broken\n")
    command = [sys.executable, "-m", "pytest_hookharness", "analyze", file]
    run = subprocess.run(command, capture_output=True, text=True, check=False)

    assert (run.returncode, run.stderr) == (1, "")
    assert run.stdout.startswith("1 loop; 7 tool calls in the session: ")
    assert "  cycle of 2, line 3 to line 13\n" in run.stdout
    assert "Next: " in run.stdout
    assert "left out: 1 x not JSON" in run.stdout


def test_a_transcript_without(tmp_path, capsys):
    """A transcript without loops has the exit status 0."""
    assert main.main(["analyze", transcript(tmp_path / "a.jsonl", "a", "b")]) == 0
    assert capsys.readouterr().out.startswith("no loops; 2 tool calls in the session: ")


def test_as_json(tmp_path, capsys):
    """The same as JSON names every part, and has the same exit status."""
    assert main.main(["analyze", transcript(tmp_path / "a.jsonl", *["x"] * 3), "--json"]) == 1

    printed = json.loads(capsys.readouterr().out)
    assert (printed["form"], printed["actions"], printed["loops"][0]["name"]) == (
        "claude-code",
        3,
        "repetition",
    )


def test_hostile_text_is_escaped(tmp_path, capsys):
    """Text of a transcript cannot act on the terminal."""
    assert main.main(["analyze", transcript(tmp_path / "a.jsonl", *["\x1b[2J\u202e"] * 3)]) == 1

    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "\u202e" not in out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty or no JSON"),
        ("hello\n", "left out: 1 x not JSON"),
        ('{"a": 1}\n', "has the form of a known transcript"),
        (None, "No such file"),
    ],
)
def test_a_file_that_is_no_transcript(tmp_path, capsys, text, says):
    """What cannot be read as a transcript has the exit status 2 and one clear message."""
    file = tmp_path / "a.jsonl"
    if text is not None:
        file.write_text(text)

    assert main.main(["analyze", str(file)]) == 2
    assert says in capsys.readouterr().err


def test_limits_out_of_reach_are_refused(tmp_path, capsys):
    """Limits that no loop can reach are an error, not a transcript without loops."""
    file = transcript(tmp_path / "a.jsonl", *["x"] * 9)

    assert main.main(["analyze", file, "--repetitions", "10", "--window", "5"]) == 2
    assert "repetitions: 10 can never be reached" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, said",
    [
        (("try", "Stop", "true", "--seed", "x"), "--seed: 'x' is not a whole number of 0 or more"),
        (("try", "Stop", "true", "--turns", "0"), "--turns: '0' is not a whole number of 1 or more"),
        (("analyze", "F", "--repetitions", "1"), "--repetitions: '1' is not a whole number of 2 or more"),
        (("analyze", "F", "--window", "x"), "--window: 'x' is not a whole number of 1 or more"),
        (("analyze", "F", "--failures", "0"), "--failures: '0' is not a whole number of 2 or more"),
    ],
)
def test_a_value_that_is_no_whole_number(capsys, words, said):
    """An option that wants a whole number says so in one line that names it."""
    assert main.main(list(words)) == 2
    assert capsys.readouterr().err == f"hookharness: {said}\n"
