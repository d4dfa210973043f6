"""Claims about state that scripts name after their own process."""

import pytest

from pytest_hookharness.campaigns.check.static.process_files import files_of_processes

COUNT = 'COUNT=$((COUNT + 1))\necho "$COUNT" > "$FILE"\n'


@pytest.mark.parametrize(
    "text",
    [
        f'FILE="/tmp/count-$$"\nCOUNT=$(cat "$FILE" 2>/dev/null || echo 0)\n{COUNT}',
        f'FILE="/tmp/count-$$"\nif [ -f "$FILE" ]; then\n  COUNT=$(cat "$FILE")\nfi\n{COUNT}',
        'FILE=/tmp/n-$$\nN=1\n[ -f "$FILE" ] && N=$(( $(cat "$FILE") + 1 ))\necho "$N" >"$FILE"\n',
        f'FILE="/tmp/count-${{CLAUDE_SESSION_ID:-$$}}"\nCOUNT=$(<"$FILE")\n{COUNT}',
        'FILE=".claude/warned.$$"\n[[ -e "$FILE" ]] && exit 0\ntouch "$FILE"\necho "Careful."\n',
        'FILE="/tmp/seen-$BASHPID"\ngrep -q "$1" "$FILE" && exit 0\necho "$1" >> "$FILE"\n',
    ],
)
def test_state_that_is_never_found_again(text):
    """A file that is looked for, then written and left, and that is named after the process, is named."""
    assert [line for _, line in files_of_processes(f"#!/bin/bash\n{text}")] == [2]


def test_the_process_in_another_variable():
    """The number of the process may be in a variable that is part of the name."""
    text = f'#!/bin/bash\nKEY="${{CLAUDE_SESSION_ID:-$$}}"\nFILE="/tmp/n-$KEY"\nCOUNT=$(cat "$FILE")\n{COUNT}'
    assert [line for _, line in files_of_processes(text)] == [3]


@pytest.mark.parametrize(
    "text",
    [
        # Temporary files: written first, or removed, also by a trap.
        'FILE="/tmp/out-$$"\nnpm test >"$FILE" 2>&1\ncat "$FILE"\n',
        'FILE="/tmp/out-$$"\n[ -f "$FILE" ] && exit 1\ndate >"$FILE"\nrm -f "$FILE"\n',
        'FILE="/tmp/out-$$"\ntrap \'rm -f /tmp/out-*\' EXIT\ncat "$FILE"\ndate >"$FILE"\n',
        'FILE="/tmp/out-$$"\nshow() {\n  cat "$FILE"\n}\ndate >"$FILE"\nshow\n',
        # Names with the session, without the process, or of a file that is only written.
        f'FILE="/tmp/count-${{SESSION_ID:-$$}}"\nCOUNT=$(cat "$FILE")\n{COUNT}',
        f'FILE="/tmp/count-${{PPID:-$$}}"\nCOUNT=$(cat "$FILE")\n{COUNT}',
        f'FILE="/tmp/count-$PPID"\nCOUNT=$(cat "$FILE")\n{COUNT}',
        f'FILE="/tmp/count"\nCOUNT=$(cat "$FILE")\n{COUNT}',
        'FILE="/tmp/log-$$"\ndate >>"$FILE"\n',
        f'# FILE="/tmp/count-$$"\nCOUNT=$(cat "$FILE")\n{COUNT}',
        f'FILE="/tmp/count-$$"\n[ -n "$KEY" ] && FILE="/tmp/count-$KEY"\nCOUNT=$(cat "$FILE")\n{COUNT}',
    ],
)
def test_other_files(text):
    """Temporary files, and names that do not change with the process, are left out."""
    assert not [*files_of_processes(f"#!/bin/bash\n{text}")]
