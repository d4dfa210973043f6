"""Claims about guards that decide by the arms of a ``case``."""

import pytest

from pytest_hookharness.campaigns.check.command_guards.command_tests import read_guard
from pytest_hookharness.campaigns.check.command_guards.word_guards import allowed_spellings, refused_data

HEAD = "#!/bin/bash\nINPUT=$(cat)\nCMD=$(echo \"$INPUT\" | jq -r '.tool_input.command // empty')\n"
REFUSES = "echo No. >&2\n  exit 2\n"
PUSH = '*"git push"*'
IN_A_MESSAGE = ("git push", "git commit --allow-empty -m 'git push'")


def guard(*arms, behind="exit 0\n"):
    """Return a script with a ``case`` of some arms."""
    lines = "".join(f"  {patterns})\n  {body} ;;\n" for patterns, body in arms)
    return f'{HEAD}case "$CMD" in\n{lines}esac\n{behind}'


@pytest.mark.parametrize(
    "text",
    [
        guard((PUSH, REFUSES)),
        guard(('*"npm publish"*', "date"), (PUSH, REFUSES)),
        guard((f"*mkfs*|{PUSH}", REFUSES)),
        guard((PUSH, "deny No."), behind="exit 0\n").replace("case", "deny() {\n  exit 2\n}\ncase", 1),
        # All but some commands are let through at once.
        guard((PUSH, ""), ("*", "exit 0"), behind=REFUSES),
    ],
)
def test_words_of_an_arm(text):
    """A guard with an arm for a command refuses a message with its words, and not another spelling."""
    assert read_guard(text).is_known
    assert IN_A_MESSAGE in [*refused_data(text)]
    assert ("git push", "git -C . push") in [*allowed_spellings(text)]


@pytest.mark.parametrize(
    "text",
    [
        guard((PUSH, "date")),
        guard((PUSH, "exit 0"), ("*", REFUSES)),
        guard(('"git push"', REFUSES)),
        guard(('*"$MORE"*', REFUSES)),
        guard(("*", REFUSES)),
        guard((PUSH, "exit 0"), (PUSH, REFUSES)),
        guard((PUSH, REFUSES)).replace('"$CMD" in', '"$MODE" in'),
        guard(('*"git commit"*', "exit 0"), (PUSH, REFUSES)).replace("commit", "c"),
    ],
)
def test_other_arms(text):
    """Nothing is said of arms that refuse nothing, the whole command, all else, or what is not known."""
    assert IN_A_MESSAGE not in [*refused_data(text)]


def test_an_arm_in_an_arm():
    """The end of an inner ``case`` does not end the outer one."""
    inner = 'case "$MODE" in\n    a) date ;;\n  esac'
    text = guard(("*foo*", inner), (PUSH, REFUSES))
    assert [one.leads for one in read_guard(text).tests] == ["", "refuses"]


REPEATED = {
    "cases": "case $CMD in\n",
    "arms": "*a*) date ;;\n",
    "bars": "*a*|",
    "ends": "esac\n",
    "whole": 'case "$CMD" in\na) ;;\nesac\n',
}


@pytest.mark.nightly
@pytest.mark.parametrize("part", REPEATED.values(), ids=REPEATED)
def test_a_long_script_takes_a_time_that_grows_with_its_length(takes_linear_time, part):
    """A script four times as long takes about four times as long."""
    takes_linear_time(
        lambda length: HEAD + 'case "$CMD" in\n' + part * (length // len(part)) + "\nesac\n",
        lambda text: [*allowed_spellings(text)],
        0.003,
    )
