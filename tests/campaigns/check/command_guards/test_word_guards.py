"""Claims about shell guards that look for words anywhere in a command."""

from dataclasses import replace

import pytest

from pytest_hookharness.campaigns.check.causes import certain
from pytest_hookharness.campaigns.check.command_guards.word_guards import (
    allowed_spellings,
    bypassed_guard,
    refused_data,
    word_guard,
)
from pytest_hookharness.campaigns.check.static_checks import check_statically
from pytest_hookharness.model.protocol import Hook

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\nCMD=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty')\n"
TEST = "echo \"$CMD\" | grep -qE 'git\\s+push'"
REFUSES = 'echo "Ask first: $CMD" >&2\n  exit 2\n'
GUARD = f"{HEAD}if {TEST}; then\n  {REFUSES}fi\nexit 0\n"
IN_A_MESSAGE = ("git push", "git commit --allow-empty -m 'git push'")
ANSWER = (
    'jq -n \'{hookSpecificOutput: {hookEventName: "PreToolUse", permissionDecision: "deny"}}\'\n  exit 0\n'
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GUARD, IN_A_MESSAGE),
        (GUARD.replace('echo "$CMD" |', "printf '%s' \"$CMD\" |"), IN_A_MESSAGE),
        (GUARD.replace(TEST, '[[ "$CMD" =~ git\\ +push ]]'), IN_A_MESSAGE),
        (GUARD.replace("-qE 'git\\s+push'", '-q "git push"'), IN_A_MESSAGE),
        (GUARD.replace(REFUSES, ANSWER), IN_A_MESSAGE),
        (
            GUARD.replace(REFUSES, 'deny "No."\n').replace(
                "if ", 'deny() {\n  echo "$1" >&2\n  exit 2\n}\nif '
            ),
            IN_A_MESSAGE,
        ),
        (HEAD + f"{TEST} && {{ echo No. >&2; exit 2; }}\n", IN_A_MESSAGE),
        (HEAD + '[ -z "$CMD" ] && exit 0\n' + GUARD[len(HEAD) :], IN_A_MESSAGE),
        (HEAD + 'SMALL=$(echo "$CMD" | tr "[:upper:]" "[:lower:]")\n' + GUARD[len(HEAD) :], IN_A_MESSAGE),
        (GUARD.replace('echo "$INPUT" |', "").replace("empty')", 'empty\' <<< "$INPUT")'), IN_A_MESSAGE),
        (
            HEAD.replace(".tool_input.command", ".command").replace(
                "jq -r", 'jq -r .tool_input)\nCMD=$(echo "$INPUT" | jq -r', 0
            )
            + GUARD[len(HEAD) :],
            IN_A_MESSAGE,
        ),
        # What stands in quotes has no end of a word before the words.
        (
            GUARD.replace("git\\s+push", "(^|\\s)git\\s+push(\\s|$)"),
            ("git push", "git commit -m 'Explain git push here'"),
        ),
        (GUARD.replace("git\\s+push", "(^|[;&|]\\s*)npm\\s"), ("npm install", "echo 'Done; npm install'")),
        # Nothing calls it.
        (f"{HEAD}old() {{\n  if {TEST}; then\n    exit 2\n  fi\n}}\nexit 0\n", ("", "")),
        (f"{HEAD}old() {{\n  if {TEST}; then\n    exit 2\n  fi\n}}\nold\n", IN_A_MESSAGE),
        # What is judged later judges both alike.
        (HEAD + f"{TEST} || exit 0\n[ -f .reviewed ] && exit 0\n{REFUSES}", IN_A_MESSAGE),
        (HEAD + f"if ! {TEST}; then\n  exit 0\nfi\n{REFUSES}", IN_A_MESSAGE),
        # Another branch has nothing to do with it.
        (HEAD + 'if echo "$CMD" | grep -q "sudo"; then\n  date\nfi\n' + GUARD[len(HEAD) :], IN_A_MESSAGE),
    ],
)
def test_words_in_a_message(text, expected):
    """A guard is named if it surely refuses a command, and data with the same words as well."""
    assert next(refused_data(text), ("", "")) == expected


def test_a_command_that_is_judged_twice():
    """A command that a later test does not refuse is not said to be refused."""
    text = (
        f"{HEAD}{TEST} || exit 0\n"
        "if echo \"$CMD\" | grep -qE 'git\\s+push\\s+--force'; then\n  echo No. >&2\n  exit 2\nfi\nexit 0\n"
    )
    assert "git push" not in [command for command, _ in refused_data(text)]
    assert "git push" not in [command for command, _ in allowed_spellings(text)]
    assert "git push --force" in [command for command, _ in refused_data(text)]


@pytest.mark.parametrize(
    "text",
    [
        # It looks at the beginning of each command, or leaves quoted text out.
        GUARD.replace("git\\s+push", "^git\\s+push"),
        GUARD.replace("git\\s+push", "(^|&&)git\\s+push"),
        HEAD + 'CMD=$(echo "$CMD" | sed "s/\'[^\']*\'//g")\n' + GUARD[len(HEAD) :],
        HEAD + 'PLAIN=$(strip_quotes "$CMD")\n[ "$PLAIN" = "$CMD" ] || exit 0\n' + GUARD[len(HEAD) :],
        HEAD + "while read -r CMD; do\n" + GUARD[len(HEAD) :] + 'done <<< "$(split "$INPUT")"\n',
        HEAD + 'case "$CMD" in git\\ commit*|echo*|gh*) exit 0 ;; esac\n' + GUARD[len(HEAD) :],
        HEAD + 'echo "$INPUT" | python3 is_quoted.py && exit 0\n' + GUARD[len(HEAD) :],
        HEAD + f'{TEST} || exit 0\nnode is_quoted.js <<< "$INPUT" && exit 0\n{REFUSES}',
        HEAD + f"{TEST} || exit 0\nexport CMD\nnode is_quoted.js && exit 0\n{REFUSES}",
        HEAD + f". ./quotes.sh\nis_quoted && exit 0\n{GUARD[len(HEAD) :]}",
        HEAD
        + 'FIRST=$(echo "$INPUT" | jq -r \'.tool_input.command | split(" ")[1]\')\n[ $FIRST = push ]\n'
        + GUARD[len(HEAD) :],
        # Messages and `echo` are allowed before.
        HEAD + "echo \"$CMD\" | grep -qE '^(git commit|echo|gh)' && exit 0\n" + GUARD[len(HEAD) :],
        HEAD
        + "if echo \"$CMD\" | grep -qE '^git push'; then\n  date\nelse\n  exit 0\nfi\n"
        + GUARD[len(HEAD) :],
        HEAD
        + "if [[ $CMD =~ ^[a-z]+.commit|echo|title ]]; then\n  log; [ -f x ] && exit 0\nfi\n"
        + GUARD[len(HEAD) :],
        # Nothing is refused, or only behind another condition on the command.
        GUARD.replace("exit 2", "exit 0"),
        GUARD.replace("; then", " && echo \"$CMD\" | grep -q '^git'; then"),
        GUARD.replace("if ", "if echo \"$CMD\" | grep -q '^git push'; then :; elif "),
        HEAD + f'{TEST} || exit 0\nis_quoted "$CMD" && exit 0\n{REFUSES}',
        # What is no command always stands in quotes.
        GUARD.replace("git\\s+push", "DROP\\s+TABLE"),
        # The command comes from elsewhere, or changes.
        GUARD.replace("INPUT=$(cat)", 'INPUT="$CLAUDE_TOOL_INPUT"'),
        GUARD.replace("// empty')", "// empty' | head -c 8)"),
        GUARD.replace("git\\s+push", "git[^\\s]push"),
        GUARD.replace("grep -qE", "grep -qwE"),
        GUARD.replace("'git\\s+push'", '"$PATTERN"'),
    ],
)
def test_other_guards(text):
    """Guards that may tell data from commands, and other scripts, are left out."""
    assert not [*refused_data(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (GUARD, ("git push", "git -C . push")),
        (GUARD.replace("git\\s+push", "rm\\s+-rf\\s"), ("rm -rf build", "rm -r -f build")),
        (GUARD.replace("git\\s+push", "git\\s.*push"), ("", "")),
        # A command that does not fit is let through at once, unless it was refused before.
        (HEAD + f"{TEST} || exit 0\n[ -f .reviewed ] && exit 0\n{REFUSES}", ("git push", "git -C . push")),
        (HEAD + f"echo \"$CMD\" | grep -q 'push' && exit 2\n{TEST} || exit 0\n{REFUSES}", ("", "")),
        (HEAD + f"{TEST} || exit 0\nexit 0\n", ("", "")),
        # Something else may refuse it.
        (GUARD.replace("exit 0\n", 'python3 more.py <<< "$INPUT" || exit 2\n'), ("", "")),
        (GUARD.replace("exit 0\n", "case $CMD in *push*) exit 2 ;; esac\n"), ("", "")),
        (GUARD.replace("exit 0\n", "check_more; exit $?\n"), ("", "")),
        (GUARD.replace("exit 0\n", 'exit "$status"\n'), ("", "")),
        (GUARD + "echo \"$CMD\" | grep -qE 'git -C' && exit 2\n", ("", "")),
    ],
)
def test_another_spelling(text, expected):
    """Another spelling is named if no test fits it, and the script refuses in no other way."""
    found = [*allowed_spellings(text)]
    assert (expected in found) if expected[0] else not found


def test_only_guards_of_a_shell():
    """Only hooks that can refuse commands are looked at, and no spelling that another guard mentions."""
    for event, expected in (("PreToolUse", IN_A_MESSAGE), ("PostToolUse", ("", "")), ("Stop", ("", ""))):
        assert word_guard(*one_hook(event, GUARD)) == expected
    assert word_guard(*one_hook("PreToolUse", GUARD.replace("bash", "env node"))) == ("", "")
    assert bypassed_guard(*one_hook("PreToolUse", GUARD)) == ("git push", "git -C . push")
    assert bypassed_guard(*one_hook("PreToolUse", GUARD, ["git push"])) == ("git push", "git -C . push")
    other = Hook(event="PreToolUse", command="bash 0.sh")
    hook_set, hook = one_hook("PreToolUse", GUARD, ["case $x in git*push) exit 2 ;; esac"])
    assert bypassed_guard(replace(hook_set, hooks=(hook, other)), hook) == ("", "")


def test_what_is_said():
    """The static checks name the command, the data, and the other spelling."""
    said = [(one.kind, one.text) for one in check_statically(one_hook("PreToolUse", GUARD)[0]).symptoms]
    words = "`git commit --allow-empty -m 'git push'` is refused like `git push`"
    assert ("TEXT-MATCH", f"PreToolUse: {words}, because the script only looks for the words.") in said
    spelling = "`git push` is refused, but `git -C . push` is allowed"
    assert ("BYPASS", f"PreToolUse: {spelling}, because no test in the script matches it.") in said


def test_a_session_that_shows_the_same_comes_first():
    """What a session shows about the same hook is reported instead."""
    hook_set = one_hook("PreToolUse", GUARD)[0]
    static = check_statically(hook_set)
    shown = [one for one in certain(hook_set, static, [], []) if one.symptom.kind == "TEXT-MATCH"]
    assert shown
    again = [*certain(hook_set, static, [], shown)]
    assert not [one for one in again if one.symptom.kind == "TEXT-MATCH"]


REPEATED = {
    "tests": f"if {TEST}; then\n",
    "values": "CMD=$(echo \"$INPUT\" | jq -r '.tool_input.command')\n",
    "words in a value": "command ",
    "uses": 'see "$CMD" "$INPUT" | grep ',
    "conditions": "fi\nif [[ $A =~ ",
    "functions": "f() {\n",
    "patterns": "(a|b)* ",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def read(text):
        return [*refused_data(text)], [*allowed_spellings(text)]

    takes_linear_time(lambda length: HEAD + part * (length // len(part)) + GUARD[len(HEAD) :], read, 0.01)
