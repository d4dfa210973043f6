"""Claims about warnings of scripts that also refuse, in places where they allow."""

import json

import pytest

from pytest_hookharness.campaigns.check.answers.lost_warnings import lost_warnings
from pytest_hookharness.campaigns.check.discovery import find_hook_sets
from pytest_hookharness.campaigns.check.static_checks import check_statically

HEAD = '#!/bin/bash\nCMD=$(cat)\nif [[ "$CMD" == *force* ]]; then\n  echo "No." >&2\n  exit 2\nfi\n'
WARNING = "You should run the tests first."
TOLD = f'if [[ "$CMD" == *reset* ]]; then\n  echo "{WARNING}" >&2\nfi\n'


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        (TOLD + "exit 0\n", "stderr"),
        (TOLD, "stderr"),
        (TOLD.replace("\nfi", "\n  exit 0\nfi") + "exit 2\n", "stderr"),
        (TOLD + 'if [[ "$CMD" == *rm* ]]; then exit 2; fi\nexit 0\n', "stderr"),
        (TOLD + '[[ "$CMD" == *rm* ]] && exit 2\nexit 0\n', "stderr"),
        (TOLD.replace("\nfi", "\nelse\n  exit 2\nfi") + "exit 0\n", "stderr"),
        (TOLD.replace(" >&2", "") + "exit 0\n", "stdout"),
        (
            f'case "$CMD" in\n  *reset*)\n    echo "{WARNING}" >&2 ;;\n  *rm*) exit 2 ;;\nesac\nexit 0\n',
            "stderr",
        ),
        (f"if true; then\n  cat >&2 <<END\nBefore:\n{WARNING}\nEND\nfi\nexit 0\n", "stderr"),
        (f"printf '{WARNING} %s' \"$CMD\" >&2\nexit 0\n", "stderr"),
    ],
)
def test_a_warning_that_leads_to_zero(text, stream):
    """A warning is named if no further condition leads to another end than 0."""
    assert [*lost_warnings(HEAD + text, of_calls=True)][:1] == [
        (stream, WARNING.rstrip() if "%s" not in text else f"{WARNING} %s")
    ]


@pytest.mark.parametrize(
    "text",
    [
        TOLD + "exit 2\n",
        TOLD + 'exit "$status"\n',
        TOLD + "exit\n",
        TOLD + "[ -f done ]\n",
        TOLD.replace("\nfi", "\n  bad=1\nfi") + '[ -n "$bad" ] && exit 2\nexit 0\n',
        TOLD.replace("\nfi", "\n  ((bad++))\nfi") + "(( bad > 0 )) && exit 2\nexit 0\n",
        TOLD.replace("then\n", "then\n  bad=true\n") + "if $bad; then exit 2; fi\nexit 0\n",
        TOLD.replace("\nfi", "\n  exit 1\nfi") + "exit 0\n",
        TOLD.replace("\nfi", "\n  exec ./other\nfi") + "exit 0\n",
        "trap 'exit 2' EXIT\n" + TOLD + "exit 0\n",
        f'warn() {{\n  echo "{WARNING}" >&2\n}}\nexit 0\n',
        f'text=$(echo "{WARNING}")\nexit 0\n',
        f'echo "{WARNING}" >> log\nexit 0\n',
        f'echo "{WARNING}" | tee log\nexit 0\n',
        f'# echo "{WARNING}" >&2\nexit 0\n',
        'echo "Formatted the file." >&2\nexit 0\n',
        'echo "WARNING: the override is there, you should know." >&2\nexit 0\n',
        'echo "NOTE: you should know that it is allowed." >&2\nexit 0\n',
        f'case "$1" in\n  show) echo "{WARNING}" >&2 ;;\nesac\nexit 0\n',
        f'echo "{WARNING}"\necho \'{{"systemMessage": "x"}}\'\nexit 0\n',
        # It is one of several, of which a later condition makes a refusal.
        TOLD.replace("\nfi", "\n  bad=1\nfi") + 'if [ "$bad" = 1 ]; then exit 2; fi\nexit 0\n',
        f'for f in *; do\n  echo "{WARNING}" >&2\n  ((n++))\ndone\n[ "$n" = 0 ] || exit 2\nexit 0\n',
        # It goes with an answer, or is for the authors of the script.
        TOLD.replace("\nfi", '\n  echo \'{{"permissionDecision": "ask"}}\'\nfi') + "exit 0\n",
        f'if [ -n "$DEBUG" ]; then\n  echo "{WARNING}" >&2\nfi\nexit 0\n',
    ],
)
def test_a_warning_that_may_be_read(text):
    """A text is left alone if the script may end differently, if it goes elsewhere, or is no advice."""
    assert not [*lost_warnings(HEAD + text, of_calls=True)]


GATHERED = (
    'if grep -q sleep "$CMD"; then\n  WARNINGS="$WARNINGS\\nSLOW: waits for a fixed time"\nfi\n'
    'if [ -n "$WARNINGS" ]; then\n  echo -e "== Results ==$WARNINGS" >&2\nfi\n'
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GATHERED + "exit 0\n", "SLOW: waits for a fixed time"),
        (GATHERED.replace("SLOW:", "You should fix: it"), "You should fix: it waits for a fixed time"),
        (GATHERED.replace("WARNINGS", "ADVICE"), "SLOW: waits for a fixed time"),
        # What is used again may lead to a refusal, other variables hold any text, and this is for the user.
        (GATHERED + '[ -n "$WARNINGS" ] && exit 2\nexit 0\n', ""),
        (GATHERED.replace("WARNINGS", "OUT"), ""),
        (GATHERED.replace('time"\n', 'time"\n  BLOCK=1\n') + '[ "$BLOCK" = 1 ] && exit 2\nexit 0\n', ""),
        ('tell "$WARNINGS"\n' + GATHERED + "exit 0\n", ""),
        (GATHERED.replace("SLOW: waits for a fixed time", "jq is not installed"), ""),
    ],
)
def test_warnings_that_are_gathered_in_a_variable(text, words):
    """A text that is printed at the end of a script is read where the script put it together."""
    assert [said for _, said in lost_warnings(HEAD + text, of_calls=True)] == [words] * bool(words)


def test_a_warning_for_a_log():
    """At other events than calls and prompts, only a text that tells somebody to do something counts."""
    text = HEAD + 'echo "WARNING: the state is damaged." >&2\nexit 0\n'
    assert [*lost_warnings(text, of_calls=True)]
    assert not [*lost_warnings(text, of_calls=False)]
    assert [*lost_warnings(HEAD + TOLD, of_calls=False)]


@pytest.mark.parametrize(
    ("host", "event", "kind"),
    [
        ("claude-code", "PreToolUse", "UNSEEN-REASON"),
        ("codex", "Stop", "MANGLED"),
        ("claude-code", "UserPromptSubmit", ""),
        ("claude-code", "SessionStart", ""),
    ],
)
def test_what_the_host_makes_of_it(tmp_path, host, event, kind):
    """Plain text is lost, or a failed answer, or read, as the host and the event have it."""
    (tmp_path / "hook.sh").write_text(HEAD + TOLD.replace(" >&2", "") + "exit 0\n")
    at = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}[host]
    (tmp_path / at).parent.mkdir()
    entry = {"hooks": [{"type": "command", "command": "bash hook.sh"}]}
    (tmp_path / at).write_text(json.dumps({"hooks": {event: [entry]}}))
    (hook_set,) = [one for one in find_hook_sets(tmp_path) if one.host == host]
    found = [one for one in check_statically(hook_set).symptoms if WARNING in one.text]
    assert [one.kind for one in found] == [kind] * bool(kind)


REPEATED = {"conditions": "if true; then\n", "warnings": TOLD, "ends": "exit 1 &&\n", "arms": ";;\n"}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_script_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(
        lambda length: HEAD + part * (length // len(part)) + TOLD,
        lambda text: [*lost_warnings(text, of_calls=True)],
        0.003,
    )
