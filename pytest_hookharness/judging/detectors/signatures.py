"""
Signs: an action reduced to what it is compared by.

Pure. A sign is short and of fixed size, so that a memory of signs can be kept.

Kinds of actions: what a tool call is for, whatever its host calls it.

Pure. The names are those of the hosts that can be simulated, and of their
forerunners; a tool that is not known is of no kind, and is compared like any other.

Noise: what differs between two actions that are the same nevertheless.

Pure. Which noise counts where is a table in ``docs/loop-detection.md``.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pytest_hookharness.model.actions import Action, ActionResult
from pytest_hookharness.model.protocol import Json, Payload


class ActionKind(enum.Enum):
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


def kind_of(tool: str, arguments: Payload) -> ActionKind:
    """
    What a call is for.
    """
    name = tool.lower()
    if name in _WAIT or (name == "write_stdin" and not str(arguments.get("chars") or "")):
        return ActionKind.WAIT
    if name in _EDITORS:
        return ActionKind.READ if arguments.get("command") == "view" else ActionKind.EDIT
    if name in _RUN:
        return ActionKind.WAIT if _waits(command_of(arguments)) else ActionKind.RUN
    if name in _EDIT:
        return ActionKind.EDIT
    return ActionKind.READ if name in _READ else ActionKind.OTHER


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


_DATE = r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
# Not behind a path, where two numbers are a line and a column.
_CLOCK = r"(?<![\w:./-])\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?![\w:])"
_SPAN = r"\b\d+(?:[.,]\d+)?\s?(?:ns|us|ms|s|secs?|seconds?|mins?|minutes?)\b"
_EPOCH = r"\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
_DRAWN = r"(?:(?:tmp|temp)[\w.-]*|[\w.-]*\d{5}[\w.-]*|[\w-]*[0-9a-f]{8}[\w.-]*|pytest-\d+)"
_ROOTS = r"(?P<root>/(?:var/)?tmp|/dev/shm|/var/folders)"
_TEMPORARY = _ROOTS + r"(?P<below>(?:/[\w.+-]+){0,6}?)/" + _DRAWN + r"(?![\w.-])"
_UUID = r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
_ADDRESS = r"\b0x[0-9a-fA-F]+\b"
_HEX = r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"
_COUNT = r"(?P<word>\b(?:attempt|try|retry|round|iteration|take)\b\W{0,3})\d+"

_TIMES = re.compile(f"{_DATE}|{_CLOCK}|{_SPAN}|{_EPOCH}", re.IGNORECASE)
_NAMES = re.compile(_TEMPORARY)
_IDS = re.compile(f"{_UUID}|{_ADDRESS}")
_COUNTS = re.compile(_COUNT, re.IGNORECASE)
_HASHES = re.compile(_HEX)
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_STATUS = re.compile(r"^\s*(?:exit code|process exited with code|exit status)[: ]*#\s*$", re.IGNORECASE)

# Longer texts are compared as they are, all digits left out: a search in them would cost more than it tells.
_LONG = 16_384
_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def mask_times(text: str) -> str:
    """
    The text of a call's arguments without times, temporary names and counts of attempts.
    """
    return _COUNTS.sub(r"\g<word>#", _drifts(text))


def mask_result(text: str) -> str:
    """
    A result without times, temporary names, ids and addresses.
    """
    return text.translate(_DIGITS) if len(text) > _LONG else _IDS.sub("<id>", _drifts(text))


def mask_numbers(text: str) -> str:
    """
    A text without any of that, and without numbers.
    """
    if len(text) > _LONG:
        return text.translate(_DIGITS)
    return _NUMBERS.sub("#", _HASHES.sub("<id>", _IDS.sub("<id>", _drifts(text))))


def mask_error(text: str) -> str:
    """
    An error text without noise; empty if it has no words beyond a status.
    """
    masked = mask_numbers(text).strip()
    return "" if _STATUS.match(masked) else masked


def _drifts(text: str) -> str:
    if len(text) > _LONG:
        return text.translate(_DIGITS)
    if not any(character.isdigit() for character in text) and "/t" not in text:
        return text
    return _NAMES.sub(r"\g<root>\g<below>/<temporary>", _TIMES.sub("<time>", text))


# What a shell call says about itself and not to the shell.
_ABOUT = frozenset(
    {"description", "justification", "explanation", "summary", "security_risk", "timeout", "timeout_ms"}
) | {"yield_time_ms", "max_output_tokens", "sandbox_permissions", "with_escalated_permissions"}
_LEVELS: Mapping[str, Callable[[str], str]] = {
    "raw": str,
    "times": mask_times,
    "numbers": mask_numbers,
}
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class ActionSignature:
    """
    One action, as it is compared.

    Attributes:
        deed: Digest of tool and arguments, behind the level of noise that was left out of them.
        result: Digest of what came out.
        error: Digest of the error text; empty if it did not fail or has no words.
        said: The call in a few words, as it was made.
    """

    deed: str
    result: str = ""
    error: str = ""
    said: str = ""

    def alike(self, other: ActionSignature) -> bool:
        """
        Whether both are the same call with the same result.
        """
        return self.deed == other.deed and self.result == other.result


def signature_of(action: Action) -> ActionSignature:
    """
    The sign of an action that is over.
    """
    text = _arguments(action)
    failed = action.outcome in (ActionResult.FAILED, ActionResult.REFUSED)
    error = mask_error(action.result) if failed else ""
    outcome = mask_numbers(action.result) if failed else mask_result(action.result)
    return ActionSignature(
        deed=_deed(action.tool, text, _level(action)),
        result=digest(action.outcome.value, outcome),
        error=digest(error) if error else "",
        said=_words(action.tool, text),
    )


def intended_calls(action: Action) -> tuple[frozenset[str], str]:
    """
    The deeds that a call would be, depending on what comes out of it, and the call in a few words.
    """
    text = _arguments(action)
    return frozenset(_deed(action.tool, text, level) for level in _LEVELS), _words(action.tool, text)


def digest(*parts: str) -> str:
    """
    A short digest of texts.
    """
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=9).hexdigest()


def _level(action: Action) -> str:
    if kind_of(action.tool, action.arguments) is ActionKind.EDIT:
        return "raw"
    match action.outcome:
        case ActionResult.FAILED | ActionResult.REFUSED:
            return "numbers"
        case ActionResult.DONE if action.result.strip():
            return "times"
        case ActionResult.DONE | ActionResult.UNKNOWN:
            return "raw"


def _deed(tool: str, text: str, level: str) -> str:
    return f"{level}:{digest(tool, _LEVELS[level](text))}"


def _arguments(action: Action) -> str:
    given: Mapping[str, Json] = action.arguments
    if kind_of(action.tool, given) is ActionKind.RUN:
        given = {key: value for key, value in given.items() if key not in _ABOUT}
    return json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(", ", ": "), default=str)


def _words(tool: str, text: str) -> str:
    return f"{tool[:_SHOWN]} {text}" if len(text) <= _SHOWN else f"{tool[:_SHOWN]} {text[:_SHOWN]}..."
