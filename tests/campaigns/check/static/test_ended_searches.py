"""Claims about searches in strict shell scripts."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.static.ended_searches import ended_searches, missed_matches
from pytest_hookharness.campaigns.check.static_checks import check_statically

from .one_hook import one_hook

HEAD = "#!/bin/bash\nset -euo pipefail\nINPUT=$(cat)\n"
FINDS = "MSG=$(echo \"$INPUT\" | grep -oE ' -m [a-z]+' | head -1)\n"
TESTS = 'if [[ -z "$MSG" ]]; then\n  exit 0\nfi\n'
SCRIPT = HEAD + FINDS + TESTS
CONTENT = "CONTENT=$(echo \"$INPUT\" | jq -r '.tool_input.content // empty')\n"
SOUGHT = 'if echo "$CONTENT" | grep -qE "AKIA[A-Z]+"; then\n  echo No >&2\n  exit 2\nfi\n'


@pytest.mark.parametrize(
    "text",
    [
        SCRIPT,
        SCRIPT.replace("-euo pipefail", "-e").replace(" | head -1", ""),
        SCRIPT.replace("#!/bin/bash\nset -euo pipefail", "#!/bin/bash -e\nset -o pipefail"),
        SCRIPT.replace("set -euo pipefail", "set -o errexit\nset -o pipefail"),
        SCRIPT.replace('-z "$MSG"', '! "$MSG" =~ ^[0-9]+$'),
        SCRIPT.replace('[[ -z "$MSG" ]]', '[ "$MSG" = "" ]'),
        HEAD + "if [ -f x ]; then\n  " + FINDS + "fi\n" + TESTS.replace("MSG", "MSG:-"),
        HEAD + 'MSG="$(git rev-parse --show-toplevel 2>/dev/null)"\n' + TESTS,
        SCRIPT + "set +e\n",
        HEAD + 'MSG="${MSG:-$(cat /tmp/root 2>/dev/null)}"\n' + TESTS,
        HEAD + 'MSG=$(cat "$STATE" 2>/dev/null)\n' + TESTS,
    ],
)
def test_a_search_that_ends_the_script(text):
    """A script that tests whether a value is empty is named if it ends before, as nothing was found."""
    ((words, line),) = ended_searches(text)
    assert "empty `MSG` is not reached" in words
    assert text.split("\n")[line - 1].lstrip().startswith("MSG=")


@pytest.mark.parametrize(
    "text",
    [
        # The script goes on.
        SCRIPT.replace("head -1)", "head -1 || true)"),
        SCRIPT.replace("head -1)", "head -1) || true"),
        SCRIPT.replace("-euo pipefail", "-uo pipefail"),
        SCRIPT.replace("-euo pipefail", "-eu"),
        SCRIPT.replace("MSG=", "local MSG="),
        SCRIPT.replace("INPUT=", "set +e\nINPUT="),
        SCRIPT.replace("INPUT=", "trap 'exit 0' ERR\nINPUT="),
        HEAD + "find_it() {\n  " + FINDS + "}\n" + TESTS,
        HEAD + "{\n  " + FINDS + "} || true\n" + TESTS,
        HEAD + f"if {FINDS.rstrip()}; then date; fi\n" + TESTS,
        # The value is not expected to be empty, or something is always found.
        HEAD + FINDS,
        SCRIPT.replace("MSG=", "echo \"$INPUT\" | grep -qE ' -m [a-z]+' || exit 0\nMSG="),
        HEAD + 'if echo "$INPUT" | grep -q git; then\n  ' + FINDS + "fi\n" + TESTS,
        SCRIPT.replace("' -m [a-z]+'", '\'"command": *"[^"]*"\''),
        SCRIPT.replace("' -m [a-z]+'", "'tool_name[^,]*'"),
        SCRIPT.replace("MSG=", 'grep -q "result:" f || exit 0\nMSG=').replace("' -m [a-z]+'", "'^result:'"),
        HEAD + "git rev-parse --git-dir >/dev/null || exit 0\nMSG=$(git rev-parse --show-toplevel)\n" + TESTS,
        HEAD + "MSG=$(cat count)\n" + TESTS,
        HEAD + "[ -f count ] || echo 0 >count\nMSG=$(cat count 2>/dev/null)\n" + TESTS,
        # It is no search, or no code of a shell.
        SCRIPT.replace("grep -oE ' -m [a-z]+'", "sed -n '/-m/p'"),
        SCRIPT.replace("#!/bin/bash", "#!/usr/bin/env python3"),
        HEAD + f"cat <<'END'\n{FINDS}END\n" + TESTS,
    ],
)
def test_a_search_that_is_right(text):
    """Nothing is said if the script goes on, or does not expect an empty value."""
    assert not [*ended_searches(text)]


LAST = 'last=$(grep \'"tool_use"\' "$TRANSCRIPT" | tail -1)\n'
COMPARES = 'if [ "$last" = "Ask" ]; then\n  exit 0\nfi\n'
REFUSES = "make test || exit 2\n"


@pytest.mark.parametrize(
    "text",
    [
        HEAD + LAST + COMPARES + REFUSES,
        HEAD + 'if [ -f "$TRANSCRIPT" ]; then\n' + LAST + COMPARES + "fi\n" + REFUSES,
        HEAD + LAST.replace(" | tail -1", "") + COMPARES.replace("[ ", "[[ ").replace("]", "]]") + REFUSES,
    ],
)
def test_a_search_whose_failure_allows_everything(text):
    """A gate that looks for one word first is named if it ends where nothing is found."""
    ((words, line),) = ended_searches(text)
    assert "`grep` finds nothing for `last`, so the refusals after its test are not reached" in words
    assert text.split("\n")[line - 1].startswith("last=")


@pytest.mark.parametrize(
    "text",
    [
        # The script goes on, or refuses nothing behind it.
        HEAD + LAST.replace("tail -1", "tail -1 || true") + COMPARES + REFUSES,
        HEAD.replace("-euo pipefail", "-eu") + LAST + COMPARES + REFUSES,
        HEAD + LAST + COMPARES + "date\n",
        HEAD + REFUSES + LAST + COMPARES,
        HEAD + LAST + COMPARES.replace("exit 0", "exit 2") + "date\n",
        HEAD + LAST + COMPARES.replace("fi\n", "else\n  exit 2\nfi\n"),
        # The value is needed, or is known to be there.
        HEAD + LAST + REFUSES,
        HEAD + LAST + COMPARES.replace(" = ", " != ") + REFUSES,
        HEAD + 'grep -q \'"tool_use"\' "$TRANSCRIPT" || exit 0\n' + LAST + COMPARES + REFUSES,
        HEAD + LAST.replace("grep", 'echo "$INPUT" | grep') + COMPARES + REFUSES,
    ],
)
def test_a_search_whose_failure_may_be_meant(text):
    """Nothing is said of a gate that goes on, needs the value, or refuses nothing behind it."""
    assert not [*ended_searches(text)]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + CONTENT + SOUGHT,
        HEAD + CONTENT + SOUGHT.replace('echo "$', "printf '%s' \"$"),
        HEAD + "CONTENT=$(git diff --cached)\n" + SOUGHT,
        HEAD + 'CONTENT=$(cat "$TRANSCRIPT_PATH")\n' + SOUGHT,
        HEAD + "deny() {\n  exit 2\n}\n" + CONTENT + SOUGHT.replace("exit 2", "deny"),
    ],
)
def test_a_match_that_is_missed(text):
    """A search whose match fails the pipe is named if the text may be long and the branch refuses."""
    ((words, line),) = missed_matches(text)
    assert words.endswith("is missed")
    assert "grep -qE" in text.split("\n")[line - 1]


def test_a_match_that_is_refused():
    """A search for what is required refuses a text that has it."""
    ((words, _),) = missed_matches(HEAD + CONTENT + SOUGHT.replace("if echo", "if ! echo"))
    assert words.endswith("is refused")


@pytest.mark.parametrize(
    "text",
    [
        HEAD.replace("-euo pipefail", "-eu") + CONTENT + SOUGHT,
        HEAD + CONTENT + SOUGHT.replace("-qE", "-E"),
        HEAD
        + CONTENT
        + SOUGHT.replace('echo "$CONTENT" | grep -qE "AKIA[A-Z]+"', 'grep -q AKIA <<< "$CONTENT"'),
        HEAD + CONTENT + SOUGHT.replace("exit 2", "date"),
        HEAD + CONTENT.replace(".content", ".command") + SOUGHT,
        HEAD + "CONTENT=$(git diff --name-only)\n" + SOUGHT,
        HEAD + "CONTENT=$(git diff --shortstat)\n" + SOUGHT,
        HEAD + "CONTENT=$(git log -1 --pretty=%B)\n" + SOUGHT,
        HEAD + CONTENT + "CONTENT=${CONTENT:0:20000}\n" + SOUGHT,
        HEAD + CONTENT.replace(".content ", ".content[0:4000] ") + SOUGHT,
        HEAD + CONTENT.replace(".tool_input.content", ".tool_response.success") + SOUGHT,
        HEAD + f"cat <<'END'\n{CONTENT}{SOUGHT}END\n",
    ],
)
def test_a_match_that_is_found(text):
    """Nothing is said of short texts, of other pipes, and where nothing is refused."""
    assert not [*missed_matches(text)]


def test_bash_agrees(tmp_path):
    """Bash ends the first script with 1, and misses the match of the second in a long text."""
    script = tmp_path / "x.sh"
    script.write_text(SCRIPT, encoding="utf-8")
    run = subprocess.run(["bash", str(script)], input="git push", text=True, check=False)
    assert run.returncode == 1
    script.write_text(HEAD + "CONTENT=$INPUT\n" + SOUGHT, encoding="utf-8")
    for length, status in ((10, 2), (1 << 20, 0)):
        text = "AKIAXYZ\n" + "x" * length
        run = subprocess.run(["bash", str(script)], input=text, text=True, capture_output=True, check=False)
        assert run.returncode == status


def test_a_project_is_a_repository():
    """A project's own hook is not named for a question to Git that only fails outside of a repository."""
    text = HEAD + "ROOT=$(git rev-parse --show-toplevel)\n" + TESTS.replace("MSG", "ROOT")
    assert [*ended_searches(text)]
    assert not [
        one for one in check_statically(one_hook("Stop", text)[0]).symptoms if one.kind == "STRICT-SHELL"
    ]


def test_what_is_said():
    """Each script is named once, with all its variables."""
    again = FINDS.replace("MSG", "OTHER").replace("-m", "-F") + TESTS.replace("MSG", "OTHER")
    hook_set, _ = one_hook("PreToolUse", SCRIPT + again)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "STRICT-SHELL")
    assert "empty `MSG`, `OTHER` is not reached (x.sh, line 4)" in found.text


REPEATED = {
    "searches": FINDS,
    "searches with tests": FINDS + TESTS,
    "conditions": 'if echo "$CONTENT" | grep -q ',
    "values": CONTENT,
    "matches": SOUGHT,
    "half a value": "MSG=$(",
    "searches in files": LAST,
    "searches that are compared": LAST + COMPARES + REFUSES,
    "groups": "(\n",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + CONTENT + part * (length // len(part)) + "\n" + TESTS

    takes_linear_time(text_of, lambda text: ([*ended_searches(text)], [*missed_matches(text)]), 0.003)
