"""Claims about files of records that scripts write anew for each record."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.reads.script_calls import find_in_calls
from pytest_hookharness.campaigns.check.static.rewritten_records import rewritten_records

from .one_hook import one_hook

PYTHON = """import json
log_path = log_dir / "calls.json"
if log_path.exists():
    with open(log_path, "r") as f:
        try:
            data = json.load(f)
        except ValueError:
            data = []
data.append(entry)
with open(log_path, "w") as f:
    json.dump(data, f, indent=2)
"""
TEXT = """data = json.loads(path.read_text())
data["calls"].append(entry)
data.append(entry)
path.write_text(json.dumps(data))
"""
SCRIPT = """const list = JSON.parse(fs.readFileSync(file, "utf8"));
list.push(entry);
fs.writeFileSync(file, JSON.stringify(list, null, 2));
"""


@pytest.mark.parametrize("text", [PYTHON, TEXT, SCRIPT])
def test_a_file_that_is_read_and_written_anew(text):
    """A script that reads all records, adds one and writes all of them is reported."""
    assert len([*rewritten_records(text)]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "import fcntl\n" + PYTHON,
        "from lib.locking import file_lock\n" + PYTHON,
        "with mutex(log_path):\n" + PYTHON,
        PYTHON.replace("calls.json", "{tool_use_id}.json"),
        PYTHON.replace("data.append(entry)", "def other(data):\n    data.append(entry)"),
        PYTHON.replace('open(log_path, "w")', 'open(other_path, "w")'),
        PYTHON.replace("data.append(entry)", "print(len(data))"),
        PYTHON.replace("json.dump(data, f", "json.dump([], f"),
        'with open(log_path, "a") as f:\n    f.write(json.dumps(entry))\n',
        SCRIPT.replace("list.push(entry);", ""),
        'fs.appendFileSync(file, JSON.stringify(entry) + "\\n");\n',
    ],
)
def test_other_files(text):
    """A lock, another file, a file that is only read, and lines that are appended lose no record."""
    assert [*rewritten_records(text)] == []


@pytest.mark.parametrize(("event", "told"), [("PostToolUse", ["LOST-UPDATES"]), ("Stop", [])])
def test_hooks_that_run_side_by_side(event, told):
    """Only hooks of calls run side by side; their place is named."""
    hook_set, _ = one_hook(event, PYTHON)
    found = [*find_in_calls(hook_set)]

    assert [one.kind for one in found] == told
    assert all("(x.sh, line 4)" in one.text for one in found)


@pytest.mark.parametrize(
    "changes", [{"command": "flock /tmp/lock bash x.sh"}, {"matcher": "ExitPlanMode|AskUserQuestion"}]
)
def test_hooks_that_run_alone(changes):
    """A hook behind a lock, or of calls for which the agent waits, loses no record."""
    hook_set, hook = one_hook("PostToolUse", PYTHON)
    assert not [*find_in_calls(replace(hook_set, hooks=(replace(hook, **changes),)))]
