"""How a dialogue on the terminal is reported."""

from __future__ import annotations

import pytest

from pytest_hookharness.model.delivery import Asked, Dialogue
from pytest_hookharness.model.processes import Activity, Cut, Exited, Process, ProcessResult, TimedOut
from pytest_hookharness.reports.terminal.phrases import describe_activity, without_folder
from pytest_hookharness.reports.terminal.turns import describe_dialogue

ASKING = Activity(Process(3, "/bin/sh /a/bin/git fetch", 0.0), "S", asks="Username:")


def test_an_answer_has_its_question() -> None:
    """The story quotes the question and the typed answer."""
    run = ProcessResult(ending=Exited(0), dialogue=Dialogue(asked=(Asked("Name:", "robin"),)))
    assert [*describe_dialogue(run)] == ['asks "Name:" on the terminal and gets "robin"']


def test_an_unanswered_question_is_reported() -> None:
    """The story says that a hook got no answer and continued."""
    run = ProcessResult(ending=Exited(0), dialogue=Dialogue(unanswered="Go on?\x1b[2J"))
    (words,) = describe_dialogue(run)
    assert words.startswith('writes "Go on?')
    assert words.endswith("on the terminal, and nobody answers")
    assert "\x1b" not in words


def test_a_question_at_a_timeout_names_its_process() -> None:
    """The process that asked until the timeout is named with its question, once."""
    ending = TimedOut(1.0, Cut.HOOK_TIMEOUT, doing=(ASKING,))
    assert [*describe_dialogue(ProcessResult(ending=ending, dialogue=Dialogue(unanswered="Username:")))] == []
    assert describe_activity(ASKING) == 'git (pid 3) asks on the terminal and nobody answers: "Username:"'


@pytest.mark.parametrize(
    ("command", "name"),
    [
        ("/bin/sh /a/bin/git fetch", "git"),
        ("/usr/bin/git fetch", "git"),
        ("/bin/sh -c x", "sh"),
        ("python3.11 hook.py", "hook.py"),
        ("", ""),
    ],
)
def test_a_process_has_a_short_name(command: str, name: str) -> None:
    """A script has its own name, not that of its interpreter."""
    assert Process(1, command, 0.0).name == name


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ('bash "$CLAUDE_PROJECT_DIR/hooks/gate.sh" now', "bash hooks/gate.sh now"),
        ('bash "$CLAUDE_PROJECT_DIR"/hooks/gate.sh', "bash hooks/gate.sh"),
        ("${CLAUDE_PLUGIN_ROOT}/gate.sh", "gate.sh"),
        ('"${CLAUDE_PLUGIN_ROOT}/my hooks/gate.sh" now', '"my hooks/gate.sh" now'),
    ],
)
def test_a_command_is_shown_without_folder(command: str, shown: str) -> None:
    """The folder's variable is left out with its quotes; quotes that the path needs stay in pairs."""
    assert without_folder(command) == shown
