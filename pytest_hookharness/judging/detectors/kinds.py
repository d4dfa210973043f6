"""
This module is concerned with kinds of actions: what a tool call is for, whatever its host calls it.

Middle floor: judging. Pure. The names are those of the hosts that can be simulated, and of their
forerunners; a tool that is not known is of no kind, and is compared like any other.
"""

from __future__ import annotations

import enum
import re
from collections.abc import Sequence

from pytest_hookharness.model.protocol import Payload


class Kind(enum.Enum):
    """
    What an action is for.
    """

    READ = "read"
    EDIT = "edit"
    RUN = "run"
    WAIT = "wait"
    OTHER = "other"


_READ = frozenset({"read", "read_file", "view", "view_file", "open_file", "get_file_content", "notebookread"})
_EDIT = frozenset(
    {"edit", "write", "multiedit", "notebookedit", "apply_patch", "write_file", "edit_file", "create_file"}
) | {"replace", "str_replace", "search_replace", "apply_code_edit"}
# One tool for both; the command among its arguments says which.
_EDITORS = frozenset(
    {"file_editor", "str_replace_editor", "str_replace_based_edit_tool", "planning_file_editor"}
)
_RUN = frozenset(
    {"bash", "shell", "exec_command", "terminal", "execute_bash", "run_shell_command", "local_shell"}
) | {"run_command", "run_terminal_cmd", "execute", "container.exec", "powershell"}
_WAIT = frozenset({"bashoutput", "taskoutput", "wait", "sleep", "read_bash", "command_status", "monitor"})
_FILES = ("file_path", "path", "absolute_path", "filename", "notebook_path", "target_file", "file")

# Of a command that goes on for pages only the beginning is looked at.
_MOST = 16_384
# In the place of a command, or as an option; what stands in quotes is text.
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_WAITING = re.compile(
    r"(?:^|[;&|(\n]|\b(?:do|then|else) )[ \t]*(?:sudo )?(?:timeout \S+ )?(?:sleep|wait|watch)\b"
    r"|\s--(?:watch|wait|follow)\b"
)


def kind_of(tool: str, arguments: Payload) -> Kind:
    """
    What a call is for.
    """
    name = tool.lower()
    if name in _WAIT or (name == "write_stdin" and not str(arguments.get("chars") or "")):
        return Kind.WAIT
    if name in _EDITORS:
        return Kind.READ if arguments.get("command") == "view" else Kind.EDIT
    if name in _RUN:
        return Kind.WAIT if _waits(command_of(arguments)) else Kind.RUN
    if name in _EDIT:
        return Kind.EDIT
    return Kind.READ if name in _READ else Kind.OTHER


def _waits(command: str | None) -> bool:
    # A terminal that is given nothing to do is only looked at.
    if command is None:
        return False
    bare = _QUOTED.sub("''", command[:_MOST])
    return not bare.strip() or _WAITING.search(bare) is not None


def command_of(arguments: Payload) -> str | None:
    """
    The shell command among the arguments of a call; ``None`` if there is none.
    """
    given = arguments.get("command", arguments.get("cmd"))
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence):
        words = [word for word in given if isinstance(word, str)]
        # What is given to a shell as one word is the command.
        return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return None


def file_of(arguments: Payload) -> str:
    """
    The file that a call is about; empty if it names none.
    """
    return next((given for key in _FILES if isinstance(given := arguments.get(key), str)), "")
