"""Prompts that name a command: which files are commands, and what the model sees of them."""

import pytest

from pytest_hookharness import hosts
from pytest_hookharness.hosts.session_state.facts import expand_command, find_command

PROJECT, HOME = "workspace/.claude/commands", "home/.claude/commands"


def test_files_of_commands(profile):
    """Files in the folders for commands are commands, the project's before the user's."""
    files = {
        f"{HOME}/a.md": "mine",
        f"{PROJECT}/a.md": "ours",
        f"{PROJECT}/b.txt": "none",
        f"{PROJECT}/deep/c.md": "none",
        f"{HOME}/d.md": "D",
    }

    commands = hosts.read_commands(profile, files)

    assert [(one.name, one.source, one.text) for one in commands] == [
        ("a", "projectSettings", "ours"),
        ("a", "userSettings", "mine"),
        ("d", "userSettings", "D"),
    ]
    found = find_command(commands, "/a")
    assert found is not None
    assert found[0].text == "ours"


@pytest.mark.parametrize(
    "text, seen",
    [
        ("Do it.", "Do it."),
        ("---\na: b\n---\nDo it.\n", "Do it."),
        ("---\r\na: b\r\n---\r\nDo it.", "Do it."),
        ("---\n---\nDo it.", "Do it."),
        ("---\na: b\nDo it.", "---\na: b\nDo it."),
        ("Do it.\n---\nand\n---\nmore", "Do it.\n---\nand\n---\nmore"),
        ("", ""),
    ],
)
def test_front_matter_is_left_out(profile, text, seen):
    """Text between two lines of dashes at the very beginning is not shown."""
    (command,) = hosts.read_commands(profile, {f"{PROJECT}/a.md": text})

    assert expand_command(profile, command, "") == seen


@pytest.mark.parametrize(
    "text, arguments, seen",
    [
        ("Do $ARGUMENTS.", "x y", "Do x y."),
        ("$ARGUMENTS or $ARGUMENTS", "x", "x or x"),
        ("Do $ARGUMENTS.", "", "Do ."),
        ("Do it.", "x", "Do it.\n\nARGUMENTS: x"),
        ("Do $ARGUMENTS.", "$ARGUMENTS", "Do $ARGUMENTS."),
    ],
)
def test_arguments(profile, text, arguments, seen):
    """Arguments replace their placeholder in the text, or follow the text if it has no placeholder."""
    (command,) = hosts.read_commands(profile, {f"{PROJECT}/a.md": text})

    assert expand_command(profile, command, arguments) == seen


@pytest.mark.parametrize(
    "prompt, arguments",
    [
        ("/a", ""),
        ("/a x y ", "x y"),
        (" /a\nx\ny", "x\ny"),
        ("/b x", None),
        ("a", None),
        ("/", None),
        ("", None),
    ],
)
def test_prompts_that_name_a_command(profile, prompt, arguments):
    """A prompt names a command by its first word, and the rest are the arguments."""
    commands = hosts.read_commands(profile, {f"{PROJECT}/a.md": "A"})

    found = find_command(commands, prompt)

    assert (found[1] if found is not None else None) == arguments
