"""Claims about guards of secrets that refuse their examples too."""

import pytest

from pytest_hookharness.campaigns.check.command_guards.word_guards import example_guard, refused_examples
from pytest_hookharness.campaigns.check.static_checks import check_statically

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\n"
PATH = "FILE=$(echo \"$INPUT\" | jq -r '.tool_input.file_path // empty')\n"
NAME = 'NAME=$(basename "$FILE")\n'
COMMAND = "CMD=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty')\n"
REFUSES = "  echo No >&2\n  exit 2\n"
GREP = f'if echo "$FILE" | grep -qE "\\.env"; then\n{REFUSES}fi\n'
ARMS = f'case "$NAME" in\n  .env|.env.*)\n{REFUSES}    ;;\nesac\n'
LOOP = 'BAD=(".env" ".pem")\nfor one in "${BAD[@]}"; do\n  if [[ "$FILE" == *"$one"* ]]; then\n'
LIST = f"{LOOP}{REFUSES}  fi\ndone\n"
LOG = "log() {\n  date >&2\n}\n"


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        (HEAD + PATH + GREP, (".env", ".env.example")),
        (HEAD + PATH + LIST, (".env", ".env.example")),
        (HEAD + PATH + NAME + ARMS, (".env.local", ".env.example")),
        (HEAD + PATH + 'NAME="${FILE##*/}"\n' + ARMS, (".env.local", ".env.example")),
        (HEAD + PATH + NAME + ARMS.replace(".env|.env.*", "*id_rsa*"), ("id_rsa", "id_rsa.pub")),
        (HEAD + COMMAND + GREP.replace("FILE", "CMD"), ("cat .env", "cat .env.example")),
        (
            HEAD + "log() {\n  date >&2\n}\n" + PATH + GREP.replace("  echo", "  log\n  echo"),
            (".env", ".env.example"),
        ),
    ],
)
def test_examples_that_are_refused(text, pair):
    """A file without secrets is named if the test that refuses one with secrets fits it too."""
    assert pair in [*refused_examples(text)]


@pytest.mark.parametrize(
    "text",
    [
        # It tells them apart, or may.
        HEAD + PATH + GREP.replace("\\.env", "\\.env(\\.local)?$"),
        HEAD + PATH + NAME + ARMS.replace(".env.*", ".env.local"),
        HEAD + PATH + '[[ "$FILE" == *.example ]] && exit 0\n' + GREP,
        HEAD + PATH + 'allowed "$FILE" && exit 0\n' + GREP,
        HEAD + PATH + 'FILE=$(allowed "$FILE")\n' + GREP,
        # It refuses every file, or none.
        HEAD + PATH + GREP.replace("\\.env", "."),
        HEAD + PATH + GREP.replace("exit 2", "exit 0"),
        HEAD + PATH + GREP.replace("if echo", "if ! echo"),
        # Something else is looked at.
        HEAD + "FILE=$(git diff)\n" + GREP,
        "#!/usr/bin/env python3\n" + GREP,
    ],
)
def test_examples_that_are_allowed(text):
    """Nothing is said if a script allows examples, may make an exception, or is not understood."""
    assert not [*refused_examples(text)]


def test_events():
    """Only guards of calls are named."""
    text = HEAD + PATH + GREP
    assert example_guard(*one_hook("PreToolUse", text)) == (".env", ".env.example")
    assert example_guard(*one_hook("PostToolUse", text)) == ("", "")


def test_what_is_said():
    """The static checks name both files, and what to allow."""
    hook_set, _ = one_hook("PreToolUse", HEAD + PATH + GREP)
    (found,) = (one for one in check_statically(hook_set).symptoms if one.kind == "OVERBLOCK")
    assert found.text == "PreToolUse: `.env.example` is refused like `.env`, although it holds no secrets."
    assert "`.example`" in found.advice


REPEATED = {
    "paths": PATH,
    "names": NAME,
    "tests": GREP,
    "arms": "case $NAME in\n.env) ;;\n",
    "functions": "f() {\n",
    "calls of functions": "f() {\n f\n}\n",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_the_time_grows_with_the_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""

    def text_of(length):
        return HEAD + PATH + NAME + part * (length // len(part)) + GREP

    takes_linear_time(text_of, lambda text: [*refused_examples(text)], 0.003)
