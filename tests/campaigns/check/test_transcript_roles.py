"""Claims about Python scripts that compare the role of a transcript's lines at a place where it never is."""

import json
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.reads.transcript_roles import unfound_roles
from pytest_hookharness.campaigns.check.static_checks import check_statically

FOUND = [
    "if entry.get('role') == 'assistant':\n   last = entry.get('content', '')",
    "if entry.get('role', '') != 'assistant':\n   continue\n  last = entry['content']",
    "if entry['role'] == 'user' and len(last) < 9:\n   last = entry['message']",
]
OTHERWISE = [
    "if entry.get('message', entry).get('role') == 'assistant':\n   last = entry",
    "msg = entry.get('message') or entry\n  if msg.get('role') == 'assistant':\n   last = msg",
    "if entry.get('type') == 'assistant':\n   last = entry",
    "if entry.get('role') == 'assistant' or entry.get('type') == 'assistant':\n   last = entry",
    "if entry.get('role') == 'assistant':\n   last = 1\n  elif entry.get('type'):\n   last = 2",
    "if entry.get('role') == 'assistant':\n   last = 1\n  if entry.get('type'):\n   last = 2",
    "if 'message' in entry:\n   entry = entry['message']\n  if entry['role'] == 'user':\n   last = 1",
    "entry = unwrap(entry)\n  if entry.get('role') == 'user':\n   last = 1",
    "if (entry.get('role') or entry.get('type')) == 'user':\n   last = 1",
    "if entry.get('role', 'assistant') == 'assistant':\n   last = 1",
    "if entry.get('role') != 'user':\n   last = 1",
    "seen.append(entry)\n  if entry.get('role') == 'user':\n   last = 1",
    "if entry.get('role') == kind:\n   last = 1",
]


def script(body, opened="transcript", head=""):
    return (
        f"import json, sys\n{head}\n\n\ndef last_of(transcript, other):\n last = ''\n"
        f" for line in open({opened}):\n  entry = json.loads(line)\n  {body}\n return last\n\n\n"
        "data = json.load(sys.stdin)\nif 'DONE' in last_of(data['transcript_path'], 0):\n    sys.exit(2)\n"
    )


@pytest.mark.parametrize("body", FOUND)
def test_a_role_at_the_top(body):
    """A condition that needs a role at the top of the line never holds."""
    assert [line for _, line in unfound_roles(script(body))] == [9]


@pytest.mark.parametrize("body", OTHERWISE)
def test_a_line_that_is_read_otherwise(body):
    """A line that the script takes apart in another way too, or a value that may fit, is left alone."""
    assert not [*unfound_roles(script(body))]


@pytest.mark.parametrize(
    "text",
    [
        script(FOUND[0], opened="other"),
        script(FOUND[0], head="# For Cursor too."),
        script(FOUND[0].replace("'role'", "'kind'")),
        script(FOUND[0]).replace("transcript_path", "history"),
        script(FOUND[0]).replace("json.loads(line)", "json.loads(fixed(line))"),
        f"{script(FOUND[0])}def broken(:\n",
    ],
)
def test_what_may_be_no_transcript(text):
    """Another file, another host's transcript and lines that are changed before are left alone."""
    assert not [*unfound_roles(text)]


def test_a_hook_that_looks_for_a_role(tmp_path):
    """The hook is named, with the line and with what to compare."""
    (tmp_path / "stop.py").write_text(script(FOUND[0]))
    hooks = {"Stop": [{"hooks": [{"type": "command", "command": "python3 ./stop.py"}]}]}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps({"hooks": hooks}))
    (hook_set,) = find_hook_sets(tmp_path)
    (said,) = [one for one in check_statically(hook_set).symptoms if "`role`" in one.text]
    assert (said.kind, "(stop.py, line 9)" in said.text) == ("CONFIG-OFF", True)
    assert "`type` of the line" in said.advice


def test_the_lines_of_recorded_sessions():
    """No line of a recorded transcript has a role at its top, and some have one below `message`."""
    files = Path(__file__).parents[2].glob("data/transcripts/claude-*.jsonl")
    lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
    assert lines
    assert not [line for line in lines if "role" in line]
    assert [line for line in lines if line.get("message", {}).get("role") == "assistant"]
