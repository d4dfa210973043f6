"""Claims about the fields that a hook reads from its state, and the values that its comparisons ask for."""

import pytest

from pytest_hookharness.campaigns.arming.state_fields import state_reads
from pytest_hookharness.campaigns.arming.state_values import AskedField as Field
from pytest_hookharness.campaigns.arming.state_values import asked_values


def asked(text):
    """Return what a script asks of each field."""
    return asked_values(state_reads(text))


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ('A=$(jq -r .active "$F")\n[ "$A" = "true" ] || exit 0\n', "active", Field(wanted=(True,))),
        (
            'A=$(jq -r \'.active // false\' "$F")\nif [[ "$A" != "true" ]]; then\n  exit 0\nfi\n',
            "active",
            Field(wanted=(True,)),
        ),
        ('if jq -e ".phase == \\"work\\"" "$F"; then exit 2; fi\n', "phase", Field(wanted=("work",))),
        ('S=$(jq -r .status "$F")\n[ "$S" = "done" ] && exit 0\n', "status", Field(avoided=("done",))),
        (
            "S=$(grep '^status:' \"$F\" | cut -d' ' -f2)\ncase \"$S\" in\n  done|paused) exit 0;;\nesac\n",
            "status",
            Field(avoided=("done", "paused")),
        ),
        ("if grep -q '^status: running' plan.md; then exit 2; fi\n", "status", Field(wanted=("running",))),
        ("grep -q '\"active\": *true' loop.json || exit 0\n", "active", Field(wanted=(True,))),
        (
            'fm() { sed -n "s/^$1: //p" "$F"; }\n[[ "$(fm mode)" == "auto" ]] || exit 0\n',
            "mode",
            Field(wanted=("auto",)),
        ),
        ('T=$(jq -r .task "$F")\nif [ -z "$T" ]; then exit 0; fi\n', "task", Field(filled=True)),
        ('W=$(jq -r .waits "$F")\nif [ -n "$W" ]; then exit 0; fi\n', "waits", Field(empty=True)),
        ('N=$(jq -r .n "$F")\nif [ "$N" -ge 5 ]; then exit 0; fi\n', "n", Field(wanted=(4,), counted=True)),
        ('N=$(jq -r .n "$F")\nif [ "$N" -gt 80 ]; then exit 2; fi\n', "n", Field(wanted=(81,), counted=True)),
    ],
)
def test_a_shell_script(text, field, expected):
    """A shell script asks for the value with which it does not exit early."""
    assert asked(text)[field] == expected


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        (
            'state = json.load(open(p))\nif not state["active"]:\n    sys.exit(0)\n',
            "active",
            Field(filled=True),
        ),
        (
            's = json.loads(p.read_text())\nif s["status"] != "in_progress":\n    return\n',
            "status",
            Field(wanted=("in_progress",)),
        ),
        (
            'state = load_state()\nphase = state.get("phase")\nif phase in ("done", "no"):\n    return\n',
            "phase",
            Field(avoided=("done",)),
        ),
        (
            'state = load_state()\nleft = [t for t in state["tasks"] if t["status"] == "pending"]\n',
            "tasks[].status",
            Field(wanted=("pending",)),
        ),
        (
            "const state = JSON.parse(fs.readFileSync(file));\nif (!state.active) process.exit(0);\n",
            "active",
            Field(filled=True),
        ),
        (
            "const { phase } = JSON.parse(fs.readFileSync(f));\nif (phase === 'done') {\n  return;\n}\n",
            "phase",
            Field(avoided=("done",)),
        ),
        (
            "const s = readJson(f);\nconst left = s.tasks.filter(t => t.status === 'open');\n",
            "tasks[].status",
            Field(wanted=("open",)),
        ),
        (
            "const state = readJson(f);\nif (state.loop?.count < 3) block();\n",
            "loop.count",
            Field(wanted=(2,), counted=True),
        ),
    ],
)
def test_python_and_javascript(text, field, expected):
    """Python and JavaScript ask in the same way, also for members of members and of items."""
    assert asked(text)[field] == expected


@pytest.mark.parametrize(
    "text",
    [
        'INPUT=$(cat)\nS=$(echo "$INPUT" | jq -r .session_id)\n[ "$S" = "x" ] && exit 0\n',
        "data = json.load(sys.stdin)\nif data.get('session_id') == 'x':\n    sys.exit(0)\n",
        "const data = JSON.parse(fs.readFileSync(0));\nif (data.session_id === 'x') process.exit(0);\n",
    ],
)
def test_the_input_of_a_hook_is_no_state(text):
    """What a script reads from its standard input is left out."""
    assert asked(text) == {}


def test_two_fields_that_are_compared():
    """A count that is compared with a limit is a number, and neither has a value of its own."""
    text = 'I=$(jq .iteration "$F")\nM=$(jq .max "$F")\nif [[ $I -ge $M ]]; then exit 0; fi\n'
    assert asked(text)["iteration"] == Field(counted=True)
    assert asked(text)["max"] == Field(counted=True)
