"""Claims about records of the session that a script takes from a variable which no host sets."""

import pytest

from pytest_hookharness.campaigns.check.reads.recorded_sessions import recorded_session
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .static.one_hook import one_hook

NAMED = '#!/bin/bash\nS="${CLAUDE_SESSION_ID:-unknown}"\n'
AS_UNKNOWN = "every session is recorded as `unknown`"
KEPT = 'if [ -n "${CLAUDE_SESSION_ID:-}" ]; then\n  date > "$HOME/$CLAUDE_SESSION_ID"\nfi\n'

IN_PYTHON = 'import os\nsid   = os.environ.get("CLAUDE_SESSION_ID", "unknown")\n'
IN_SCRIPT = "const id = process.env.CLAUDE_SESSION_ID || 'unknown';\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (NAMED + 'echo "[$(date)] session=$S source=$X" >> "$LOGS/a.log"\n', AS_UNKNOWN),
        (NAMED + 'cat > "$F" <<END\n{"session_id": "${S}", "n": 1}\nEND\n', AS_UNKNOWN),
        ('#!/bin/bash\necho "session=${CLAUDE_SESSION_ID:-unknown}" \\\n  >> ~/a.log\n', AS_UNKNOWN),
        ('#!/bin/bash\necho "session: $CLAUDE_SESSION_ID" >> ~/a.log\n', "the session is not recorded"),
        ("#!/bin/bash\n" + KEPT, "the condition in line 2 of x.sh never holds"),
        (
            IN_PYTHON + 'd.append({"id": sid, "n": 1})\n',
            AS_UNKNOWN,
        ),
        (
            IN_SCRIPT + "write({ session_id: id, n: 1 });\n",
            AS_UNKNOWN,
        ),
        # It only prints the session, or names no record after it.
        (NAMED + 'echo "session=$S"\n', ""),
        (NAMED + 'echo "session=$S" >&2\n', ""),
        (NAMED + 'echo "session=$S" 2>/dev/null\n', ""),
        ('import os\nprint(os.environ.get("CLAUDE_SESSION_ID", "unknown"))\n', ""),
        # It knows the session in another way, or has one if the variable is empty.
        (NAMED + 'S=$(jq -r .session_id)\necho "session=$S" >> "$F"\n', ""),
        (NAMED.replace("unknown", "$PPID") + 'echo "session=$S" >> "$F"\n', ""),
        (NAMED + '. "$HOME/.session.env"\necho "session=$S" >> "$F"\n', ""),
        (NAMED + 'S=$(date +%s)\necho "session=$S" >> "$F"\n', ""),
        ("#!/bin/bash\nexport CLAUDE_SESSION_ID=$1\n" + KEPT, ""),
        ("#!/bin/bash\n" + KEPT.replace("fi\n", "else\n  date > ~/x\nfi\n"), ""),
        (
            IN_SCRIPT.replace("process", "input.session_id || process") + "w({ session_id: id });",
            "",
        ),
    ],
)
def test_a_record_of_no_session(text, expected):
    """A record is named if its session comes from the variable alone."""
    assert recorded_session(*one_hook("Stop", text))[1] == expected


def test_a_loaded_file_that_knows_the_session():
    """Nothing is said if the command sets the variable, or the name of the file is after it."""
    text = NAMED + 'echo "session=$S" >> "$F"\n'
    hook_set, hook = one_hook("Stop", text)
    assert recorded_session(hook_set, hook) == ("CLAUDE_SESSION_ID", AS_UNKNOWN)
    given = type(hook)(event="Stop", command="CLAUDE_SESSION_ID=1 bash x.sh")
    assert recorded_session(hook_set, given) == ("", "")
    assert recorded_session(*one_hook("Stop", f'{text}date > "/tmp/$S.txt"\n')) == ("", "")


def test_what_is_said_of_records():
    """The static checks say that the variable is empty and where the session is."""
    hook_set, _ = one_hook("Stop", NAMED + 'echo "session=$S" >> "$HOME/a.log"\n')
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "WRONG-KEY")
    said = "$CLAUDE_SESSION_ID is always empty, as claude-code does not set it"
    assert found.text == f"Stop: {said}: {AS_UNKNOWN}."
    assert found.advice == "Read `session_id` of the input."
