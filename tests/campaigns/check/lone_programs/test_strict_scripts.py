"""Claims about strict scripts that end where a program is missing."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.lone_programs.strict_scripts import ends_without, failing_call
from pytest_hookharness.campaigns.check.static_checks import check_statically

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nset -euo pipefail\nINPUT=$(cat)\n"
READS = 'ACTIVE=$(echo "$INPUT" | jq -r \'.active // ""\')\n'
REFUSES = "echo 'Go on.' >&2\nexit 2\n"
LOOP = HEAD + READS + REFUSES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (LOOP, ("jq", 4)),
        (LOOP.replace("-euo pipefail", "-e"), ("jq", 4)),
        (LOOP.replace("set -euo pipefail", "set -o errexit"), ("jq", 4)),
        (LOOP.replace('echo "$INPUT" |', 'echo "$INPUT" |\n '), ("jq", 4)),
        (LOOP.replace("jq -r '.active // \"\"'", "python3 -c 'print(1)'"), ("python3", 4)),
        (LOOP.replace("')", "' .claude/loop.json 2>/dev/null)"), ("jq", 4)),
        (LOOP.replace("')", "' | tr a b)"), ("jq", 4)),
        (HEAD + "[ -f .claude/loop ] || exit 0\n" + READS + REFUSES, ("jq", 5)),
        (HEAD + "log() {\n  date\n}\nif [ -f x ]; then\n  date\nfi\n" + READS + REFUSES, ("jq", 10)),
        (HEAD + "for x in a; do date; done\ncase $x in\n  a) date ;;\nesac\n" + READS + REFUSES, ("jq", 8)),
        (LOOP.replace(REFUSES, 'echo \'{"decision": "block", "reason": "Go on."}\'\n'), ("jq", 4)),
        (LOOP + "set +e\ntrap 'date' EXIT\n", ("jq", 4)),
        (LOOP.replace("exit 2", 'exit "${STATUS:-0}"'), ("", 0)),
        # The script goes on, or the status is that of another program.
        (LOOP.replace("set -euo pipefail", "set -u"), ("", 0)),
        (LOOP.replace("'\\'')", "'\\'' || true)"), ("jq", 4)),
        (LOOP.replace("\"')\n", "\"' || true)\n"), ("", 0)),
        (LOOP.replace("\"')\n", "\"') || exit 0\n"), ("", 0)),
        (LOOP.replace("ACTIVE=", "local ACTIVE="), ("", 0)),
        (LOOP.replace("ACTIVE=", "if [ -f x ]; then\n  ACTIVE=").replace("exit 2", "fi\nexit 2"), ("", 0)),
        (LOOP.replace("ACTIVE=", "read_it() {\nACTIVE=").replace("echo 'Go", "}\necho 'Go"), ("", 0)),
        (LOOP.replace("ACTIVE=", "(\nACTIVE=").replace("echo 'Go", ") || exit 2\necho 'Go"), ("", 0)),
        (LOOP.replace("ACTIVE=", "{\nACTIVE=").replace("echo 'Go", "} || exit 2\necho 'Go"), ("", 0)),
        (LOOP.replace("ACTIVE=", "if [ -f x ]; then\nACTIVE=").replace("echo 'Go", "fi\necho 'Go"), ("", 0)),
        (LOOP.replace("-euo pipefail", "-e").replace("\"')\n", "\"' | tr a b)\n"), ("", 0)),
        # Something may notice that the program is missing.
        (LOOP.replace("INPUT=", "trap 'exit 2' ERR\nINPUT="), ("", 0)),
        (LOOP.replace("INPUT=", "set +e\nINPUT="), ("", 0)),
        (LOOP.replace("INPUT=", "needs jq\nINPUT="), ("", 0)),
        (LOOP.replace("INPUT=", 'export PATH="$HOME/bin:$PATH"\nINPUT='), ("", 0)),
        (LOOP.replace("INPUT=", ". ./tools.sh\nINPUT="), ("", 0)),
        (LOOP + "jq() { node jq.js; }\n", ("", 0)),
        # It only asks, refuses before, or never.
        (LOOP.replace("INPUT=", "[ -f late ] && exit 2\nINPUT="), ("", 0)),
        (LOOP.replace(REFUSES, 'echo \'{"permissionDecision": "ask"}\'\n'), ("", 0)),
        (HEAD + READS, ("", 0)),
        (LOOP.replace("#!/bin/bash", "#!/usr/bin/env node"), ("", 0)),
    ],
)
def test_a_script_that_ends(text, expected):
    """A program is named if the script surely ends with an error without it, before it can refuse."""
    assert failing_call(text, []) == expected


WRAPS = "active() {\n  echo \"$INPUT\" | jq -r '\n.active'\n}\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + WRAPS + "ACTIVE=$(active)\n" + REFUSES, ("jq", 8)),
        (HEAD + WRAPS + 'ACTIVE="$(active now)"\n' + REFUSES, ("jq", 8)),
        (HEAD + WRAPS + "deny() {\n  exit 2\n}\nACTIVE=$(active)\ndeny\n", ("jq", 11)),
        # The script goes on, or refuses before, or the function does more.
        (HEAD + WRAPS + "ACTIVE=$(active) || true\n" + REFUSES, ("", 0)),
        (HEAD + WRAPS + "if ACTIVE=$(active); then date; fi\n" + REFUSES, ("", 0)),
        (HEAD + WRAPS.replace("active'", "active' || true") + "ACTIVE=$(active)\n" + REFUSES, ("", 0)),
        (HEAD + WRAPS.replace("\n}", "\n  date\n}") + "ACTIVE=$(active)\n" + REFUSES, ("", 0)),
        (HEAD + WRAPS + "[ -f late ] && exit 2\nACTIVE=$(active)\n" + REFUSES, ("", 0)),
        (HEAD + "needs jq\n" + WRAPS + "ACTIVE=$(active)\n" + REFUSES, ("", 0)),
    ],
)
def test_a_function_that_only_calls_the_program(text, expected):
    """A script ends where a function cannot call the program, if its value is needed there."""
    assert failing_call(text, []) == expected


def test_a_loaded_file():
    """A loaded file that does not name the program changes nothing."""
    text = LOOP.replace("INPUT=", ". ./tools.sh\nINPUT=")
    assert failing_call(text, ["log() { date; }\n"]) == ("jq", 5)
    assert failing_call(text, ["jq() { node jq.js; }\n"]) == ("", 0)


def test_another_hook_that_asks_for_the_program():
    """Nothing is said if another script looks for the program, or nothing can be refused."""
    assert ends_without(*one_hook("Stop", LOOP)) == ("jq", 4)
    assert ends_without(*one_hook("PostToolUse", LOOP)) == ("", 0)
    told = "#!/bin/sh\ncommand -v jq >/dev/null || echo 'jq is missing.'\n"
    assert ends_without(*one_hook("Stop", LOOP, [told])) == ("", 0)


def test_a_command_that_catches_the_error():
    """No refusal is lost if the command refuses when its script fails."""
    hook_set, hook = one_hook("PreToolUse", LOOP)
    hook = replace(hook, command="bash x.sh || exit 2")
    assert ends_without(replace(hook_set, hooks=(hook,)), hook) == ("", 0)


def test_what_is_said():
    """The static checks name the program, the line, and how to say that it is missing."""
    (found,) = (
        one for one in check_statically(one_hook("Stop", LOOP)[0]).symptoms if one.kind == "UNGUARDED-TOOL"
    )
    said = "with no `jq` on the PATH the script ends with an error in line 4, and every stop is allowed."
    assert found.text == f"Stop: {said}"
    assert "command -v jq" in found.advice


REPEATED = {
    "calls": READS,
    "half an assignment": "A=$(jq ",
    "quotation marks": "A=$(jq '",
    "bars": "A=$(jq x | ",
    "names": "x jq ",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + "A=$(jq x " + part * (length // len(part)) + REFUSES

    takes_linear_time(text_of, lambda text: failing_call(text, []))
