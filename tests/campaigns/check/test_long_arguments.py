"""Claims about programs that get the whole input as one argument, and do not start with a long one."""

import json
import subprocess
from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.reads.guard_checks import find_in_guards
from pytest_hookharness.campaigns.check.reads.long_arguments import long_argument
from tests.campaigns.check.static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
PYTHON = "python3 -c \"import sys,json; print(json.loads(sys.argv[1])['tool_input']['file_path'])\""
PROGRAM = "import sys, json\nprint(json.loads(sys.argv[1])['tool_input']['file_path'])"
IN_PLACE = "python3 -c \"import os,json; print(json.loads(os.environ['IN'])['tool_input']['file_path'])\""
JQ = "jq -rn --argjson in"
GUARD = '[ -z "$FILE" ] && exit 0\n[[ "$FILE" == *.env ]] && exit 2\nexit 0\n'
CALLS = [
    f'FILE=$({PYTHON} "$INPUT" 2>/dev/null)',
    f'FILE=$({PYTHON} "$INPUT" || echo "")',
    f'FILE=$(IN="$INPUT" {IN_PLACE})',
    f"FILE=$({JQ} \"$INPUT\" '$in.tool_input.file_path')",
    f"FILE=$(python3 - \"$INPUT\" <<'P'\n{PROGRAM}\nP\n)",
]


def found(text, event="PreToolUse", matcher="Write|Edit"):
    hook_set, hook = one_hook(event, text)
    hook = replace(hook, matcher=matcher)
    return long_argument(replace(hook_set, hooks=(hook,)), hook)


def run(text, size):
    """Return a script's exit status for an edit that writes this many characters to `.env`."""
    call = {"tool_input": {"file_path": "/w/.env", "content": "x" * size}}
    given = json.dumps(call).encode()
    return subprocess.run(["bash", "-c", text], input=given, capture_output=True, check=False).returncode


@pytest.mark.parametrize("call", CALLS)
def test_a_guard_that_allows_a_large_file(call):
    """A guard that ends with 0 where the program prints nothing allows the call, and the shell agrees."""
    one = found(HEAD + call + "\n" + GUARD)
    assert one is not None
    assert (one.line, one.opens) == (3, True)
    if "jq" not in call:
        assert [run(HEAD + call + "\n" + GUARD, size) for size in (10, 1 << 18)] == [2, 0]


@pytest.mark.parametrize(
    ("call", "rest"),
    [
        (CALLS[0].replace(' "$INPUT"', ' <<< "$INPUT"'), GUARD),
        (f'FILE=$(printf "%s" "$INPUT" | {PYTHON})', GUARD),
        (f'FILE=$({PYTHON} "$INPUT") || exit 2', GUARD),
        (f'FILE=$({PYTHON} "$INPUT" || echo unknown)', GUARD),
        (f'NAME=$(jq -r .tool_name <<< "$INPUT")\nFILE=$({PYTHON} "$NAME")', GUARD),
        (f'INPUT=${{INPUT:0:1000}}\nFILE=$({PYTHON} "$INPUT")', GUARD),
        (CALLS[0], "FILE=${FILE:-unknown}\n" + GUARD),
        (CALLS[0], '[ -z "$FILE" ] && FILE=$(jq -r .tool_input.file_path <<< "$INPUT")\n' + GUARD),
        (CALLS[0], '[[ "$FILE" == *.txt ]] || exit 2\n'),
        (f'grep -q .env <<< "$INPUT" && exit 2\n{CALLS[0]}', GUARD),
        (CALLS[0], '[ -z "$FILE" ] && exit 0\necho "$FILE" >> log\n'),
        (CALLS[0], f"if [ $? -ne 0 ]; then\n  exit 2\nfi\n{GUARD}"),
        (f"trap 'exit 2' ERR\n{CALLS[0]}", GUARD),
        (f"trap 'c=$?\n[ $c = 0 ] || exit 2' EXIT\n{CALLS[0]}", GUARD),
        (f"if [ ${{#INPUT}} -gt 120000 ]; then exit 2; fi\n{CALLS[0]}", GUARD),
        (f"# {CALLS[0]}", GUARD),
        (f"cat <<'E'\n{CALLS[0]}\nE", GUARD),
        ('first "$INPUT"', GUARD),
    ],
)  # fmt: skip
def test_a_guard_that_notices(call, rest):
    """An input by a pipe, a part of it, a failure that is noticed and another refusal are left alone."""
    assert found(HEAD + call + "\n" + rest) is None


def test_a_strict_guard():
    """Under `set -e` too, what follows may refuse, so nothing is said where only that ends the script."""
    text = f'{HEAD}set -e\n{CALLS[0]}\n[[ "$FILE" == *.txt ]] || exit 2\n'
    assert found(text) is None


@pytest.mark.parametrize(
    ("event", "matcher", "rest", "named"),
    [
        ("PreToolUse", "Bash", GUARD, True),
        ("PreToolUse", "Read", GUARD, False),
        ("UserPromptSubmit", "", GUARD, False),
        ("PostToolUse", "Write|Edit", '[[ "$FILE" =~ \\.py$ ]] || exit 0\nruff check "$FILE"\n', True),
        ("PostToolUse", "", 'case "$FILE" in\n  *.py|*.pyi) ruff check "$FILE" ;;\nesac\n', True),
        ("PostToolUse", "Write|Edit", '[[ "$FILE" == */package.json ]] || exit 0\nnpm i\n', False),
        ("PostToolUse", "Bash", '[[ "$FILE" =~ \\.py$ ]] || exit 0\nruff check "$FILE"\n', False),
    ],
)
def test_calls_that_may_be_long(event, matcher, rest, named):
    """Guards of edits and commands are read, and what looks after edits at files of a kind."""
    one = found(f"{HEAD}{CALLS[0]}\n{rest}", event, matcher)
    assert (one is not None) is named
    assert one is None or one.opens is (event == "PreToolUse")


@pytest.mark.parametrize(
    ("event", "code", "words"),
    [
        ("PreToolUse", "FAILS-OPEN", "the call is allowed"),
        ("PostToolUse", "CRASHED", "`FILE` stays empty"),
    ],
)
def test_how_it_is_told(event, code, words):
    """A guard is said to allow the call, and another hook to lose the value."""
    hook_set, _ = one_hook(event, f"{HEAD}{CALLS[0]}\n{GUARD}")
    (said,) = [one for kind in find_in_guards(hook_set) for one in kind if "128 KiB" in one.text]
    assert said.kind == code
    assert "line 3" in said.text
    assert said.text.endswith(f"{words}.")
