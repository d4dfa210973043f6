"""Claims about questions whether a program is there."""

import pytest

from pytest_hookharness.campaigns.check.lone_programs.program_questions import (
    questions_in,
    without_silent_questions,
)

ALLOW = 'allow() { printf \'{"permissionDecision":"allow"}\\n\'; exit 0; }\n'
HEAD = f'#!/bin/bash\n{ALLOW}say() {{\n  echo "$1" >&2\n}}\n'
ASKS = "command -v jq >/dev/null 2>&1"


def asked(text):
    """Return the only question of a script."""
    (found,) = questions_in(HEAD + text)
    return found


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKS} || exit 0\n",
        f"{ASKS} || exit 0   # It cannot be read.\n",
        f"{ASKS} || {{ exit 0; }}\n",
        f"{ASKS} || allow\n",
        f'{ASKS} || {{ echo "no" >> "$LOG"; exit 0; }}\n',
        f'log() {{\n  mkdir -p "$DIR"\n  echo "$*" >> "$LOG"\n}}\n{ASKS} || {{ log "no"; exit 0; }}\n',
        f"if ! {ASKS}; then\n  exit 0\nfi\n",
        f"if ! {ASKS}; then exit 0; fi\n",
        f'if ! {ASKS}; then\n  echo \'{{"permission": "allow"}}\'\n  exit 0\nfi\n',
        f"if {ASKS}; then\n  if true; then\n    date\n  fi\nelse\n  exit 0\nfi\n",
        "if ! which jq &>/dev/null; then exit 0; fi\n",
        '[ -z "$(command -v jq)" ] && exit 0\n',
        'if ! [ -x "$(command -v jq)" ]; then exit 0; fi\n',
    ],
)
def test_a_silent_end(text):
    """A script that only ends with 0, or allows without a text, ends silently."""
    found = asked(text)
    assert (found.tool, found.silent, found.leaves, found.tells) == ("jq", True, True, False)
    assert "jq" not in without_silent_questions(text)


@pytest.mark.parametrize(
    "text",
    [
        f"{ASKS} || say 'jq is missing'\n",
        f"{ASKS} || {{ echo 'jq is missing' >&2; exit 0; }}\n",
        f"{ASKS} || exit 1\n",
        f'{ASKS} || {{ echo "no jq" > /dev/tty; exit 0; }}\n',
        f"if ! {ASKS}; then\n  echo 'Install jq.'\n  exit 0\nfi\n",
        f"if {ASKS}; then\n  date\nelse\n  echo 'jq?'\nfi\n",
        f'if ! {ASKS}; then\n  echo \'{{"systemMessage": "no jq"}}\'\n  exit 0\nfi\n',
        f"if {ASKS}; then\n  date\nelif true; then\n  date\nfi\n",
        f"while ! {ASKS}; do\n  sleep 1\ndone\n",
        "FOUND=$(command -v jq)\n",
    ],
)
def test_a_question_that_may_tell(text):
    """A script that prints something or fails, and one that is not understood, may tell somebody."""
    found = asked(text)
    assert not found.leaves
    assert found.tells
    assert without_silent_questions(HEAD + text) == HEAD + text


@pytest.mark.parametrize(
    "text",
    [
        f"if {ASKS}; then\n  date\nfi\n",
        f"if [ -f x ] && {ASKS}; then\n  date\nfi\n",
        f'if {ASKS}; then\n  date\nelse\n  echo "$ANSWER" >&2\nfi\n',
        f"if {ASKS}; then\n  date\nelse\n  printf 'no jq\\n' >> \"$FILE\"\nfi\n",
        f"{ASKS} && date\n",
    ],
)
def test_a_question_that_goes_on(text):
    """A script that goes on without a word about the program tells nobody, and does not end."""
    found = asked(text)
    assert not found.leaves
    assert not found.tells


def test_quoted_words():
    """Words in quotes are no question."""
    assert not [*questions_in(HEAD + f'echo "{ASKS} || exit 0"\n')]


def test_a_question_that_only_warns():
    """A warning on standard error with status 0 can be left out, and any other word can not."""
    text = HEAD + f"{ASKS} || {{ echo 'jq is missing; go on' >&2; exit 0; }}\n"
    assert "command -v jq" not in without_silent_questions(text, warnings=True)
    loud = text.replace("exit 0", "exit 1")
    assert without_silent_questions(loud, warnings=True) == loud


REPEATED = {
    "warnings": f"{ASKS} || {{ echo 'a' >&2; ",
    "questions": f"{ASKS} || exit 0\n",
    "questions in lists": f"{ASKS} && ",
    "conditions": f"if {ASKS}; then\n",
    "half a test": '[ -z "$(',
    "words": "command -v ",
    "redirections": f"{ASKS} >/dev/null",
    "functions": "allow() {\n",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + part * (length // len(part)) + "\n"

    takes_linear_time(text_of, lambda text: [*questions_in(text)])
