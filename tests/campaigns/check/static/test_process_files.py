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
        # Written first in another way, or used for anything else before it is read.
        'R="/tmp/resp.$$"\ncurl -s -o "$R" https://localhost/x\njq .a "$R"\ndate > "$R"\n',
        'R="/tmp/resp.$$"\ncp base.md "$R"\ncat "$R"\necho "$1" >> "$R"\n',
        'R="/tmp/resp.$$"\nmake >| "$R"\ncat "$R"\necho "$1" >> "$R"\n',
        'R="/tmp/resp.$$"\ngit show --output="$R"\ncat "$R"\necho "$1" >> "$R"\n',
        'R="/tmp/resp.$$"\nmkdir -p "$R"\n[ -e "$R" ] && exit 0\ntouch "$R"\n',
        'R="/tmp/resp.$$"\nexport R\n./fill.sh\ncat "$R"\necho "$1" >> "$R"\n',
        'R="/tmp/resp.$$"\nfill R\ncat "$R"\necho "$1" >> "$R"\n',
        'R="/tmp/resp.$$"\ndate > /tmp/resp.$$\ncat "$R"\necho "$1" >> "$R"\n',
        'R="/tmp/resp.$$"\ngrep -q "$R" list && exit 0\necho "$R" >> list\ndate > "$R"\n',
        'R="/tmp/resp.$$"\njq -n --arg file "$R" \'{$file}\'\ndate > "$R"\n',
        # The test is there for a file of that name of another program.
        'OUT="/tmp/x-$$"\nif [ -e "$OUT" ]; then\n  echo exists >&2\n  exit 1\nfi\ndate > "$OUT"\n',
        'OUT="/tmp/x-$$"\nif [ -e "$OUT" ]; then echo exists >&2; exit 1; fi\ndate > "$OUT"\n',
        'OUT="/tmp/x-$$"\n[ -e "$OUT" ] && die "exists"\ndate > "$OUT"\n',
        'FILE="/tmp/hook-$$.lock"\n[ -e "$FILE" ] && exit 0\ntouch "$FILE"\n',
        # A loop comes back to the file.
        'OUT="/tmp/x-$$"\nfor f in a b; do\n  [ -s "$OUT" ] && exit 0\n  date > "$OUT"\ndone\n',
        # Removed together with others.
        f'FILE="/tmp/hook-$$"\nCOUNT=$(cat "$FILE")\n{COUNT}find /tmp -name \'hook-*\' -delete\n',
        f'FILE="/tmp/hook-$$"\nCOUNT=$(cat "$FILE")\n{COUNT}rm -f /tmp/hook-*\n',
    ],
)
def test_other_files(text):
    """Temporary files, and names that do not change with the process, are left out."""
    assert not [*files_of_processes(f"#!/bin/bash\n{text}")]


REPEATED = {
    "values without an end": "A=$(\n",
    "names": 'F%d="/tmp/x-$$-n"\n',
    "state": 'F%d="/tmp/x-$$-n"\ncat "$F%d"\necho >"$F%d"\n',
    "programs": "cat ",
    "removals": "rm ",
    "redirections": "<<<",
}


@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_script_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        parts = (part.replace("%d", str(number)) for number in range(length // len(part)))
        return f'#!/bin/bash\nFILE="/tmp/n-$$"\n{"".join(parts)}\n'

    takes_linear_time(text_of, lambda text: [*files_of_processes(text)], 0.003)
