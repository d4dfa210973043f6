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


BY_FUNCTIONS = """def load():
    with open(STATE) as f:
        return json.load(f)

def save(state):
    with open(STATE, "w") as f:
        json.dump(state, f)

def main():
    state = load()
    state["count"] = state.get("count", 0) + 1
    save(state)
"""
REPLACED = """state = json.loads(STATE.read_text())
state["calls"] += 1
copy.write_text(json.dumps(state))
os.replace(copy, STATE)
"""
RENAMED = """function load() {
  return JSON.parse(fs.readFileSync(FILE, "utf8"));
}
const seen = load();
seen.push(name);
fs.writeFileSync(copy, JSON.stringify(seen));
fs.renameSync(copy, FILE);
"""
BY_JQ = """#!/bin/bash
jq --arg f "$F" \\
  '.files += [$f]' "$STATE" > "$STATE.tmp" && mv "$STATE.tmp" "$STATE"
"""
COUNTED = """#!/bin/sh
N=$(cat "$COUNT" 2>/dev/null || echo 0)
N=$((N + 1))
echo "$N" > "$COUNT"
[ "$N" -gt 5 ] && exit 2
"""


@pytest.mark.parametrize("text", [PYTHON, TEXT, SCRIPT, BY_FUNCTIONS, REPLACED, RENAMED, BY_JQ, COUNTED])
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
        BY_FUNCTIONS.replace("save(state)\n", "save({})\n").replace("def save({})", "def save(state)"),
        BY_FUNCTIONS.replace("    state = load()\n", "    state = {}\n"),
        BY_FUNCTIONS.replace("def load():", "def load(STATE):"),
        REPLACED.replace("copy, STATE)", "copy, OTHER)"),
        REPLACED.replace("+= 1", "= 1"),
        RENAMED.replace("seen.push(name);", ""),
        BY_JQ.replace("+= [$f]", "= $f"),
        BY_JQ.replace('tmp" "$STATE"', 'tmp" "$OTHER"'),
        BY_JQ.replace("jq ", "flock lock jq "),
        COUNTED.replace("exit 2", "echo many"),
        COUNTED.replace("N + 1", "0"),
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


@pytest.mark.parametrize(
    "around",
    [
        'until mkdir "$F.busy"; do sleep .1; done\n{}',
        "source lib.sh\none_at_a_time {}",
        'F="/tmp/call-$(jq -r .tool_use_id)"\n{}',
        '( set -C; : > "$F.pid" )\n{}',
        "event=$(jq -r .hook_event_name)\n{}",
        'case "$1" in\nStop)\n{};;\nesac',
    ],
)
def test_a_program_whose_script_makes_calls_wait(around):
    """A lock may stand around a program, as may a path of its own for each call, and another event."""
    program = f"python3 - <<'PY'\n{PYTHON}PY\n"
    alone, _ = one_hook("PostToolUse", f"#!/bin/bash\n{program}")
    text = "#!/bin/bash\n" + around.format(program)
    hook_set, _ = one_hook("PostToolUse", text, ["one_at_a_time() { flock 9; }\n"])
    loading = replace(hook_set, sources=(hook_set.sources[0], ("lib.sh", hook_set.sources[1][1])))

    assert [one.kind for one in find_in_calls(alone)] == ["LOST-UPDATES"]
    assert "LOST-UPDATES" not in [one.kind for one in find_in_calls(loading)]


def test_records_that_no_run_has_lost():
    """A lost record that only the script shows is worth knowing, but need not be fixed."""
    hook_set, _ = one_hook("PostToolUse", f"#!/bin/bash\npython3 - <<'PY'\n{PYTHON}PY\n")
    (found,) = find_in_calls(hook_set)
    assert not found.must_fix
    assert replace(found, avoidable=False).must_fix


def test_a_program_in_a_shell_script():
    """A program that stands in a shell script is read too, and its line is that of the script."""
    hook_set, _ = one_hook("PostToolUse", f"#!/bin/bash\npython3 - <<'PY'\n{PYTHON}PY\n")
    (found,) = find_in_calls(hook_set)

    assert (found.kind, "(x.sh, line 6)" in found.text) == ("LOST-UPDATES", True)


REPEATED = {
    "files that are read": "state = json.loads(FILE.read_text())\n",
    "functions": "def load():\n    return json.loads(FILE.read_text())\nstate = load()\n",
    "files that are written": "FILE.write_text(json.dumps(state))\n",
    "sums": "state = json.loads(FILE.read_text())\nstate = 1 + 1\nFILE.write_text(json.dumps(state))\n",
    "moves": 'jq .a "$A" > "$B"\nmv "$B" "$A"\n',
    "counts": 'N=$(cat "$C")\necho "$N" > "$C"\nexit 2\n',
}


@pytest.mark.nightly
@pytest.mark.parametrize("start", ["", "#!/bin/sh\n"])
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, start, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(
        lambda length: start + part * (length // len(part)), lambda text: [*rewritten_records(text)]
    )
