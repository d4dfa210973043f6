"""Claims about guards that compare with patterns of the shell, also with each of a list."""

import subprocess

import pytest

from pytest_hookharness.campaigns.check.command_guards.patterns import glob_source, looped_texts
from pytest_hookharness.campaigns.check.command_guards.word_guards import (
    allowed_spellings,
    refused_data,
    refused_folders,
    root_guard,
    word_guard,
)
from pytest_hookharness.model.protocol import Hook

from ..static.one_hook import one_hook

HEAD = "#!/bin/bash\nINPUT=$(cat)\nCMD=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty')\n"
REFUSES = "  echo No. >&2\n  exit 2\n"
LIST = 'BAD=(\n  "rm -rf /"   # all of it\n  \'mkfs\'\n  ":(){ :|:& };:"\n)\n'
LOOP = 'for one in "${BAD[@]}"; do\n  if %s; then\n  ' + REFUSES + "  fi\ndone\nexit 0\n"
IN_A_MESSAGE = ("rm -rf /", "git commit --allow-empty -m 'rm -rf /'")


@pytest.mark.parametrize(
    ("glob", "source"),
    [
        ('*"rm -rf"*', "rm -rf"),
        ("*foo*", "foo"),
        ('"git push"*', "^git push"),
        ('*"a.b"', r"a\.b$"),
        ("*a\\ b*c*", "a b.*c"),
        ('*"$one"*', "(?:x|y)"),
        ('*"$two"*', ""),
        ("*[ab]*", ""),
        ("*$HOME*", ""),
        ("*", ""),
    ],
)
def test_patterns_of_a_shell(glob, source):
    """A pattern of the shell is one that is searched for; what is not plain is left alone."""
    assert glob_source(glob, {"one": ["x", "y"]}) == source


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("fake -rf /", False),
        ("rm -rf /", True),
        ("sudo rm -rf /tmp", True),
        ("rm -r", False),
    ],
)
def test_the_shell_agrees(text, words):
    """Bash finds the same."""
    run = subprocess.run(["bash", "-c", '[[ "$1" == *"rm -rf /"* ]]', "x", text], check=False)
    assert (run.returncode == 0) is words


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (LIST + 'for one in "${BAD[@]}"; do :; done\n', ["rm -rf /", "mkfs", ":(){ :|:& };:"]),
        ('BAD=("$HOME")\nfor one in "${BAD[@]}"; do :; done\n', []),
        ('BAD=(a $(date))\nfor one in "${BAD[@]}"; do :; done\n', []),
        (LIST + 'BAD+=(x)\nfor one in "${BAD[@]}"; do :; done\n', []),
        (
            LIST + 'for one in "${BAD[@]}"; do :; done\nfor one in x; do :; done\n'
            'for one in "${BAD[@]}"; do :; done',
            [],
        ),
    ],
)
def test_lists(text, found):
    """The texts of a list are known if it is written once, and so is what a loop over it takes."""
    assert [*looped_texts(text).get("one", ())] == found


@pytest.mark.parametrize(
    "text",
    [
        HEAD + f'if [[ "$CMD" == *"rm -rf /"* ]]; then\n{REFUSES}fi\nexit 0\n',
        HEAD + LIST + LOOP % '[[ "$CMD" == *"$one"* ]]',
        HEAD + LIST + LOOP % 'echo "$CMD" | grep -qF "$one"',
        HEAD + LIST.replace("(){ :|:& };:", "x") + LOOP % 'echo "$CMD" | grep -qE "$one"',
    ],
)
def test_words_of_a_pattern(text):
    """A guard that compares with a pattern refuses a message, and folders below the root, as well."""
    assert next(refused_data(text)) == IN_A_MESSAGE
    assert next(refused_folders(text)) == ("rm -rf /", "rm -rf /tmp/build")
    assert "rm -r -f /" in [spelling for _, spelling in allowed_spellings(text)]


def test_a_guard_of_all_that_is_outside():
    """A guard that says that it is for paths outside of the project means all absolute paths."""
    text = HEAD + f'if [[ "$CMD" == *"rm -rf /"* ]]; then\n{REFUSES}fi\nexit 0\n'
    assert [*refused_folders(text)]
    assert not [*refused_folders(text.replace("if", "# Keep outside of the project.\nif", 1))]


@pytest.mark.parametrize(
    "text",
    [
        HEAD + f'if [[ "$CMD" == "rm -rf /" ]]; then\n{REFUSES}fi\nexit 0\n',
        HEAD + f'if [[ "$CMD" != *"rm -rf /"* ]]; then\n{REFUSES}fi\nexit 0\n',
        HEAD + 'if [[ "$CMD" == *"rm -rf /"* ]]; then\n  echo Careful.\nfi\nexit 0\n',
        HEAD + f'if [[ "$CMD" == *"$BAD"* ]]; then\n{REFUSES}fi\nexit 0\n',
        HEAD + LIST + LOOP % 'echo "$CMD" | grep -q "$one"',
        HEAD + LIST + LOOP % '[[ "${CMD%%-m*}" == *"$one"* ]]',
    ],
)
def test_other_comparisons(text):
    """A comparison of the whole, another pattern, and one that is unknown prove nothing."""
    assert not [*refused_data(text)]
    assert not [*refused_folders(text)]


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ("rm -rf /", True),
        ("rm -rf", False),
        ("rm -rf /(etc|usr)", False),
        ("rm -rf /( |$)", False),
        ("rm -rf /tmp", False),
    ],
)
def test_only_the_root(pattern, named):
    """A guard is named if any absolute path looks like the root, and a relative one does not."""
    text = HEAD + f"if echo \"$CMD\" | grep -qE '{pattern}'; then\n{REFUSES}fi\nexit 0\n"
    assert bool([*refused_folders(text)]) is named


def test_a_guard_that_means_every_absolute_path():
    """A guard that keeps the agent in the project is meant to refuse any absolute path."""
    test = f"if echo \"$CMD\" | grep -qE 'rm -rf /'; then\n{REFUSES}fi\nexit 0\n"
    for comment, named in (("# Removals.\n", True), ("# Nothing outside the project.\n", False)):
        hook_set, hook = one_hook("PreToolUse", HEAD + comment + test)
        assert (root_guard(hook_set, hook) != ("", "")) is named


def test_a_guard_in_a_command():
    """The program of a command is read like a script."""
    hook_set, _ = one_hook("PreToolUse", "")
    command = (
        'bash -c \'CMD=$(cat | jq -r ".tool_input.command // empty"); '
        'if echo "$CMD" | grep -qE "rm -rf"; then echo No. >&2; exit 2; fi\''
    )
    hook = Hook(event="PreToolUse", matcher="Bash", command=command)
    assert word_guard(hook_set, hook) == (
        "rm -rf build",
        "git commit --allow-empty -m 'rm -rf build'",
    )


REPEATED = {
    "lists": 'A=("x"\n',
    "items": '"x" # y\n',
    "loops": 'for one in "${BAD[@]}"; do\n',
    "comparisons": '[[ "$CMD" == *"a"* ]] && exit 2\n',
    "stars": "*a",
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_script_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(
        lambda length: HEAD + "BAD=(\n" + part * (length // len(part)) + ")\n" + LOOP % '[[ "$CMD" == *x* ]]',
        lambda text: [*refused_folders(text)],
        0.003,
    )
