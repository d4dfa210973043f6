"""Claims about guards that read their input by one of two programs."""

import pytest

from pytest_hookharness.campaigns.check.lone_programs.paired_readers import silent_chain, silent_pair
from pytest_hookharness.campaigns.check.static_checks import check_statically

from ..static.one_hook import one_hook

BY_JQ = "  CMD=$(echo \"$IN\" | jq -r '.tool_input.command')\n"
BY_PYTHON = "  CMD=$(echo \"$IN\" | python3 -c 'print(1)')\n"
CHAIN = (
    f"if command -v jq >/dev/null 2>&1; then\n{BY_JQ}"
    f"elif command -v python3 >/dev/null 2>&1; then\n{BY_PYTHON}else\n  exit 0\nfi\n"
)
REFUSES = 'if [[ "$CMD" == *"rm -rf"* ]]; then\n  echo No >&2\n  exit 2\nfi\n'
HEAD = "#!/bin/bash\nIN=$(cat)\n"
GUARD = HEAD + CHAIN + REFUSES
EMPTY = '[ -z "$CMD" ] && exit 0\n'
BOTH = ("jq", "python3")
READER = (
    'read_key() {\n  if command -v jq &>/dev/null; then\n    echo "$IN" | jq -r "$1"\n'
    '  elif command -v python3 &>/dev/null; then\n    echo "$IN" | python3 -c "x"\n'
    '  else\n    echo ""\n  fi\n}\n'
)
CALLS = 'CMD=$(read_key ".tool_input.command")\n'


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GUARD, (BOTH, 8)),
        # The value stays empty, and an empty one ends the script.
        (HEAD + CHAIN.replace("else\n  exit 0\n", "") + EMPTY + REFUSES, (BOTH, 8)),
        (HEAD + CHAIN.replace("exit 0", 'CMD=""') + EMPTY + REFUSES, (BOTH, 10)),
        (HEAD + READER + CALLS + EMPTY + REFUSES, (BOTH, 13)),
        # It goes on with the empty value, or has another one.
        (HEAD + CHAIN.replace("exit 0", 'CMD=""') + REFUSES, ((), 0)),
        (HEAD + CHAIN.replace("exit 0", 'CMD="$IN"') + EMPTY + REFUSES, ((), 0)),
        (HEAD + READER + CALLS + "CMD=${CMD:-$IN}\n" + EMPTY + REFUSES, ((), 0)),
        (HEAD + READER.replace('echo ""', 'echo "$IN"') + CALLS + EMPTY + REFUSES, ((), 0)),
        (HEAD + READER.replace("  fi\n}", '  fi\n  echo "$IN"\n}') + CALLS + EMPTY + REFUSES, ((), 0)),
        # It tells, refuses, asks again, or refuses before.
        (GUARD.replace("  exit 0\n", "  echo 'jq is missing' >&2\n  exit 0\n"), ((), 0)),
        (GUARD.replace("  exit 0\n", "  exit 2\n"), ((), 0)),
        (GUARD.replace(CHAIN, f"command -v jq >/dev/null || say_so\n{CHAIN}"), ((), 0)),
        (GUARD.replace(CHAIN, f"[ -f late ] && exit 2\n{CHAIN}"), ((), 0)),
        # Only in some cases, or with a third way.
        (GUARD.replace(CHAIN, f"if [ -f x ]; then\n{CHAIN}fi\n"), ((), 0)),
        (GUARD.replace("else\n", "elif [ -f x ]; then\n  CMD=$(./x)\nelse\n"), ((), 0)),
        # Programs that the guard only runs, and a guard that refuses nothing.
        (GUARD.replace("jq", "gh"), ((), 0)),
        (GUARD.replace("exit 2", "exit 0"), ((), 0)),
        (GUARD.replace("#!/bin/bash", "#!/usr/bin/env node"), ((), 0)),
    ],
)
def test_a_guard_with_two_readers(text, expected):
    """The programs are named if the guard ends with 0 and says nothing without both of them."""
    assert silent_chain(text) == expected


def test_a_reader_that_is_loaded():
    """A function of a loaded file counts, and nothing is said of a file that is not found."""
    text = f"#!/bin/bash\n. ./lib.sh\n{CALLS}{EMPTY}{REFUSES}"
    assert silent_chain(text, [READER]) == (BOTH, 4)
    assert silent_chain(text) == ((), 0)


NONE = "#!/bin/sh\nif ! command -v jq >/dev/null && ! command -v python3 >/dev/null; then\n  {0}\nfi\n"


@pytest.mark.parametrize(
    ("event", "said", "expected"),
    [
        # At the start of a session, the host drops standard error, and shows standard output.
        ("PreToolUse", "echo 'jq is missing' >&2", (BOTH, 8)),
        ("PreToolUse", "echo 'jq is missing'", ((), 0)),
        ("PreToolUse", "exit 2", ((), 0)),
        ("PostToolUse", ":", ((), 0)),
    ],
)
def test_another_hook_that_tells(event, said, expected):
    """Nothing is said if another hook tells of the missing programs where somebody gets it."""
    hook_set, hook = one_hook(event, GUARD, [NONE.format(said)])
    assert silent_pair(*_at_start(hook_set, hook)) == expected


def _at_start(hook_set, hook):
    other = type(hook)(event="SessionStart", command="sh 0.sh")
    return type(hook_set)(
        host=hook_set.host,
        root=hook_set.root,
        files=(),
        hooks=(hook, other),
        sources=hook_set.sources,
    ), hook


def test_what_is_said_of_two_readers():
    """The static checks name both programs, the line, and how to say that they are missing."""
    hook_set, _ = one_hook("PreToolUse", GUARD)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "UNGUARDED-TOOL")
    said = "with neither `jq` nor `python3` on the PATH the script ends silently in line 8"
    assert found.text == f"PreToolUse: {said}, and it refuses nothing."
    assert "end with 2" in found.advice
