"""Claims about state that is named after a variable for the session that no host sets."""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_hookharness.campaigns.check.static.session_variables import shared_session
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.model.checkup import HookSet
from pytest_hookharness.model.protocol import Hook


def hooks(text, host="claude-code"):
    """A hook set with one script."""
    hook = Hook(event="PostToolUse", command="bash x.sh")
    return HookSet(host=host, root=Path(__file__).parent, files=(), hooks=(hook,), sources=(("x.sh", text),))


def found(text, host="claude-code"):
    """What is found in a hook with one script."""
    hook_set = hooks(text, host)
    return shared_session(hook_set, hook_set.hooks[0])


@pytest.mark.parametrize(
    "text",
    [
        '#!/bin/bash\nF="/tmp/count-${CLAUDE_SESSION_ID:-default}.txt"\n',
        '#!/bin/bash\nS="${CLAUDE_SESSION_ID:-default}"\nF="$HOME/.state/${S}.json"\n',
        'import os\nsession = os.environ.get("CLAUDE_SESSION_ID", "default")\ncache = Cache(session)\n',
        "from os import getenv\nstate_file = f\"/tmp/{getenv('CLAUDE_SESSION_ID', 'default')}.json\"\n",
        "const id = process.env.CLAUDE_SESSION_ID || 'default';\nconst counterFile = `/tmp/n-${id}`;\n",
        "const counterFile = join(tmpdir(), process.env.CLAUDE_SESSION_ID ?? 'default');\n",
    ],
)
def test_state_that_all_sessions_share(text):
    """A state that is named after the variable, with a default, is the same one for all sessions."""
    assert found(text) == ("CLAUDE_SESSION_ID", "default")
    assert found(text, host="codex") == ("", "")
    hook_set = hooks(text)
    given = replace(hook_set, env={"CLAUDE_SESSION_ID": "1"})
    assert shared_session(given, given.hooks[0]) == ("", "")
    (symptom,) = (one for one in check_statically(hook_set).symptoms if one.kind == "WRONG-KEY")
    assert "$CLAUDE_SESSION_ID, which claude-code does not set" in symptom.text


@pytest.mark.parametrize(
    "text",
    [
        # It only prints the variable, or knows the session from elsewhere too.
        '#!/bin/bash\necho "session ${CLAUDE_SESSION_ID:-default} began"\n',
        '#!/bin/bash\nS=$(jq -r .session_id)\nF="/tmp/${S:-${CLAUDE_SESSION_ID:-default}}.txt"\n',
        '#!/bin/bash\nF="/tmp/${CLAUDE_CODE_SESSION_ID:-${CLAUDE_SESSION_ID:-default}}.txt"\n',
        '#!/bin/bash\nCLAUDE_SESSION_ID=$1\nF="/tmp/${CLAUDE_SESSION_ID:-default}.txt"\n',
        '#!/bin/bash\n# F="/tmp/${CLAUDE_SESSION_ID:-default}.txt"\n',
        'session = e.get("session_id") or environ.get("CLAUDE_SESSION_ID", "default")\ncache(session)\n',
        "const i = input.session_id || process.env.CLAUDE_SESSION_ID || 'default';\nconst file = `/${i}`;\n",
        'session = os.environ.get("CLAUDE_SESSION_ID", "")\ncache = Cache(session)\n',
        "const { session_id: id = process.env.CLAUDE_SESSION_ID || 'x' } = input;\nconst file = `/${id}`;\n",
        'session = one(d, "session_id") or environ.get("CLAUDE_SESSION_ID", "default")\ncache(session)\n',
        '#!/bin/bash\nS=${CLAUDE_SESSION_ID:-x}\nS=$(sed \'s/"session_id":"\\([^"]*\\)"/\\1/\')\nF="/a/$S"\n',
        '#!/bin/bash\nS=$(field session_id)\nF="/tmp/${S:-${CLAUDE_SESSION_ID:-default}}.txt"\n',
    ],
)
def test_state_that_is_not_shared(text):
    """Nothing is said of a script that knows the session in another way, or that names no state after it."""
    assert found(text) == ("", "")


@pytest.mark.parametrize(
    ("name", "known", "text"),
    [
        (
            "lib.sh",
            "CLAUDE_SESSION_ID=$(jq -r .session_id)\n",
            '#!/bin/bash\n. "$(dirname "$0")/lib.sh"\nF="/tmp/${CLAUDE_SESSION_ID:-default}.txt"\n',
        ),
        (
            "lib.py",
            "def session(data):\n    return data.get('session_id')\n",
            "from lib import session\ni = environ.get('CLAUDE_SESSION_ID', 'x')\nfile(session(i))\n",
        ),
        (
            "lib.js",
            "exports.session = (data) => data.session_id;\n",
            "const s = require('./lib').session;\nconst i = process.env.CLAUDE_SESSION_ID || 'x';\nfile(i)\n",
        ),
    ],
)
def test_a_session_that_a_loaded_file_knows(tmp_path, name, known, text):
    """A script may load the file that takes the session from the input."""
    (tmp_path / name).write_text(known)
    hook_set = replace(hooks(text), root=tmp_path)
    assert shared_session(hook_set, hook_set.hooks[0]) == ("", "")


def test_a_script_with_many_empty_lines():
    """The time grows with the number of empty lines, not with its square."""
    begin = time.process_time()
    found("#!/bin/bash\n" + "\n" * 20_000)
    assert time.process_time() - begin < 1
