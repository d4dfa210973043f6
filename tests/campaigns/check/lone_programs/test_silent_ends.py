"""Claims about guards that end silently where a program is missing."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.lone_programs.silent_ends import (
    silent_end,
    silent_question,
    unheard_end,
)
from pytest_hookharness.campaigns.check.static_checks import check_statically

from ..static.one_hook import one_hook

ASKS = "command -v jq >/dev/null 2>&1 || exit 0\n"
READS = "CMD=$(cat | jq -r '.tool_input.command')\n"
REFUSES = 'if echo "$CMD" | grep -q "rm -rf"; then\n  echo No >&2\n  exit 2\nfi\n'
GUARD = "#!/bin/bash\n" + ASKS + READS + REFUSES


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GUARD, ("jq", 2)),
        (GUARD.replace("exit 2", 'echo \'{"decision": "block"}\''), ("jq", 2)),
        (
            GUARD.replace("jq -r '.tool_input.command'", "python3 -c 'x'").replace("jq", "python3"),
            ("python3", 2),
        ),
        (
            "#!/bin/bash\n" + ASKS.replace("jq", "node") + "node - <<'E' || exit 2\nprocess.stdin\nE\n",
            ("node", 2),
        ),
        (GUARD.replace(ASKS, f"{READS}if ! {ASKS[:-11]}; then\n  exit 0\nfi\n"), ("jq", 3)),
        (GUARD.replace("exit 2", "deny").replace(ASKS, f"deny() {{\n  exit 2\n}}\n{ASKS}"), ("jq", 5)),
        # It refuses before, only asks the person, or never refuses.
        (GUARD.replace(ASKS, f"[ -f late ] && exit 2\n{ASKS}"), ("", 0)),
        (GUARD.replace("exit 2", 'echo \'{"permissionDecision": "ask"}\''), ("", 0)),
        (GUARD.replace("exit 2", "exit 0"), ("", 0)),
        # It tells, refuses, goes on, or asks only in some cases.
        (GUARD.replace("|| exit 0", "|| { echo 'jq is missing' >&2; exit 0; }"), ("", 0)),
        (GUARD.replace("|| exit 0", "|| exit 2"), ("", 0)),
        (GUARD.replace("|| exit 0", "&& date"), ("", 0)),
        (GUARD.replace(ASKS, f"if [ -f x ]; then\n{ASKS}fi\n"), ("", 0)),
        (GUARD.replace(ASKS, f"read_it() {{\n{ASKS}}}\n"), ("", 0)),
        # What the guard is about, or runs.
        (GUARD.replace("jq", "gh"), ("", 0)),
        ("#!/bin/bash\n" + ASKS.replace("jq", "python3") + "python3 -m pytest || exit 2\n", ("", 0)),
        ("#!/bin/bash\n" + ASKS.replace("jq", "python3") + "python3 tools/style.py || exit 2\n", ("", 0)),
        ("#!/bin/bash\n" + ASKS.replace("jq", "node") + 'node "$DIR/lint.js" || exit 2\n', ("", 0)),
        *(
            (f"#!/bin/bash\ncommand -v {tool} >/dev/null || exit 0\n{tool} {words} || exit 2\n", ("", 0))
            for tool, words in (
                ("perl", "-c lib/x.pl"),
                ("node", "-c lib/x.js"),
                ("jq", "empty package.json"),
                ("python3", "-c \"import yaml; yaml.safe_load(open('ci.yml'))\""),
            )
        ),
        # Something before it brings the program.
        (GUARD.replace(ASKS, f"{ASKS.replace('exit 0', 'PATH=$PATH:/opt/bin')}{ASKS}"), ("", 0)),
        (GUARD.replace(READS, "CMD=$(cat)\n"), ("", 0)),
        (GUARD.replace("#!/bin/bash", "#!/usr/bin/env node"), ("", 0)),
    ],
)
def test_a_guard_that_ends_silently(text, expected):
    """A program is named if the guard ends with 0 and says nothing without it, before it can refuse."""
    assert silent_question(text) == expected


def test_another_script_that_tells():
    """Nothing is said if another script may tell of the missing program, or nothing can be refused."""
    assert silent_end(*one_hook("PreToolUse", GUARD)) == ("jq", 2)
    assert silent_end(*one_hook("PostToolUse", GUARD)) == ("", 0)
    told = "#!/bin/sh\ncommand -v jq >/dev/null || echo 'jq is missing.'\n"
    assert silent_end(*one_hook("PreToolUse", GUARD, [told])) == ("", 0)
    silent = "#!/bin/sh\ncommand -v jq >/dev/null || exit 0\n"
    assert silent_end(*one_hook("PreToolUse", GUARD, [silent])) == ("jq", 2)


WARNS = GUARD.replace("|| exit 0", "|| { echo 'jq is missing; not checked' >&2; exit 0; }")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (WARNS, ("jq", 2)),
        (WARNS.replace("echo 'jq", ">&2 echo 'jq").replace("checked' >&2", "checked'"), ("jq", 2)),
        (
            GUARD.replace(ASKS, f'if ! {ASKS[:-11]}; then\n  echo "jq? No." >&2\n  exit 0\nfi\n'),
            ("jq", 2),
        ),
        (GUARD.replace("|| exit 0", "|| { warn; exit 0; }"), ("", 0)),
        # It says nothing, says it elsewhere, fails, goes on, or answers as well.
        (GUARD, ("", 0)),
        (WARNS.replace(" >&2;", ";"), ("", 0)),
        (WARNS.replace(" >&2;", " >/dev/tty;"), ("", 0)),
        (WARNS.replace("exit 0", "exit 1"), ("", 0)),
        (WARNS.replace(" exit 0;", ""), ("", 0)),
        (WARNS.replace("exit 0", 'echo \'{"systemMessage": "No jq."}\'; exit 0'), ("", 0)),
        (WARNS.replace("exit 0", "notify-send 'No jq'; exit 0"), ("", 0)),
        # It refuses before, or never reads its input by the program.
        (WARNS.replace(ASKS[:10], f"[ -f late ] && exit 2\n{ASKS[:10]}"), ("", 0)),
        (WARNS.replace(READS, "CMD=$(cat)\n"), ("", 0)),
    ],
)
def test_a_guard_that_only_warns(text, expected):
    """A program is named if the guard writes a warning to standard error without it, and ends with 0."""
    assert silent_question(text, warns=True) == expected


def test_warnings_on_hosts_that_may_show_them():
    """A warning counts as lost only on hosts that drop standard error, and only if it is not redirected."""
    hook_set, hook = one_hook("PreToolUse", WARNS)
    assert unheard_end(hook_set, hook) == ("jq", 2)
    assert unheard_end(replace(hook_set, host="gemini-cli"), replace(hook, event="BeforeTool")) == ("", 0)
    assert unheard_end(replace(hook_set, host="cursor"), replace(hook, event="preToolUse")) == ("", 0)
    assert unheard_end(hook_set, replace(hook, command="bash x.sh 2>>warnings.log")) == ("", 0)
    for line in ("exec 2>log", "[ -t 2 ] || exec 2>/dev/tty", "trap 'exit 2' EXIT"):
        elsewhere = WARNS.replace(ASKS[:10], f"{line}\n{ASKS[:10]}")
        assert unheard_end(*one_hook("PreToolUse", elsewhere)) == ("", 0)


def test_another_hook_that_only_warns():
    """A warning of another hook tells nobody of the missing program, unless the host shows it."""
    hook_set, hook = one_hook("PreToolUse", GUARD, [WARNS])
    other = replace(hook, command="bash 0.sh")
    assert silent_end(replace(hook_set, hooks=(hook, other)), hook) == ("jq", 2)
    assert silent_end(hook_set, hook) == ("", 0)


def test_what_is_said_of_a_warning():
    """The static checks say that the warning is lost."""
    hook_set, _ = one_hook("Stop", WARNS)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "UNGUARDED-TOOL")
    said = "with no `jq` on the PATH the script ends with 0 in line 2, and every stop is allowed."
    assert (
        found.text == f"Stop: {said} Its warning goes to standard error, which nobody sees with that status."
    )


def test_what_is_said():
    """The static checks name the program, the line, and how to say that it is missing."""
    hook_set, _ = one_hook("PreToolUse", GUARD)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "UNGUARDED-TOOL")
    said = "with no `jq` on the PATH the script ends silently in line 2, and it refuses nothing."
    assert found.text == f"PreToolUse: {said}"
    assert "command -v jq" in found.advice
