"""
Signatures of actions: what two actions are compared by.

A signature is short and has a fixed size, so a memory of signatures can be stored. Times, ids, temporary
names and counters are removed first; docs/loop-detection.md has a table of what is removed where. The kind
of an action is known from its tool's name on any simulated host; unknown tools are compared like any other.
"""

from __future__ import annotations

import enum
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from json.encoder import encode_basestring
from typing import TYPE_CHECKING

from pytest_hookharness.model.actions import Action, ActionResult
from pytest_hookharness.model.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pytest_hookharness.model.protocol import Json, Payload


class ActionKind(enum.Enum):
    """What an action does."""

    READ = "read"
    EDIT = "edit"
    RUN = "run"
    WAIT = "wait"
    OTHER = "other"


_READ = frozenset({"read", "read_file", "view", "view_file", "open_file", "get_file_content", "notebookread"})
_EDIT = frozenset(
    {"edit", "write", "multiedit", "notebookedit", "apply_patch", "write_file", "edit_file", "create_file"}
) | {"replace", "str_replace", "search_replace", "apply_code_edit"}
# One tool that reads and edits; the command among its arguments says which.
_EDITORS = frozenset(
    {"file_editor", "str_replace_editor", "str_replace_based_edit_tool", "planning_file_editor"}
)
_RUN = frozenset(
    {"bash", "shell", "exec_command", "terminal", "execute_bash", "run_shell_command", "local_shell"}
) | {"run_command", "run_terminal_cmd", "execute", "container.exec", "powershell"}
_WAIT = frozenset({"bashoutput", "taskoutput", "wait", "sleep", "read_bash", "command_status", "monitor"})
_KINDS: Mapping[str, ActionKind] = {
    **dict.fromkeys(_READ, ActionKind.READ),
    **dict.fromkeys(_EDIT, ActionKind.EDIT),
    **dict.fromkeys(_RUN, ActionKind.RUN),
    **dict.fromkeys(_WAIT, ActionKind.WAIT),
}
_FILES = ("file_path", "path", "absolute_path", "filename", "notebook_path", "target_file", "file")

# Only the beginning of a long command is searched, in characters.
_MOST = 16_384
# Text in quotes is no command; a word counts only where a command can stand, or as an option.
_QUOTED = re.compile(r"'[^']*'|\"(?:\\.|[^\"\\])*\"")
_WAITING = re.compile(
    r"(?:^|[;&|(\n]|\b(?:do|then|else) )[ \t]*(?:sudo )?(?:timeout \S+ )?(?:sleep|wait|watch)\b"
    r"|\s--(?:watch|wait|follow)\b"
)


def kind_of(tool: str, arguments: Payload) -> ActionKind:
    """Return the kind of a call."""
    name = tool.lower()
    kind = _KINDS.get(name, ActionKind.OTHER)
    if kind is ActionKind.RUN:
        return ActionKind.WAIT if _waits(command_of(arguments)) else ActionKind.RUN
    if name == "write_stdin" and not str(arguments.get("chars") or ""):
        return ActionKind.WAIT
    if name in _EDITORS:
        return ActionKind.READ if arguments.get("command") == "view" else ActionKind.EDIT
    return kind


def _waits(command: str | None) -> bool:
    if command is None:
        return False
    # An empty command only looks at a terminal.
    if not command or command[:_MOST].isspace():
        return True
    # Most commands have none of these words, and need no expression.
    if not ("sleep" in command or "wait" in command or "watch" in command or "--follow" in command):
        return False
    return _WAITING.search(_QUOTED.sub("''", command[:_MOST])) is not None


def command_of(arguments: Payload) -> str | None:
    """Return the shell command among a call's arguments; ``None`` if there is none."""
    given = arguments.get("command", arguments.get("cmd"))
    if isinstance(given, str):
        return given
    if isinstance(given, Sequence):
        words = [word for word in given if isinstance(word, str)]
        # `sh -c COMMAND`: the third word is the command.
        return words[2] if len(words) == 3 and words[1] in ("-c", "-lc") else " ".join(words)
    return None


def file_of(arguments: Payload) -> str:
    """Return the file that a call is about; empty if it names none."""
    return next((given for key in _FILES if isinstance(given := arguments.get(key), str)), "")


# An expression that begins with one set of characters is searched several times as fast as one that begins
# with an alternative or an assertion. So each begins with its first character, and then looks back.
_START = r"\d(?<!\w\d)"
_DATE = r"\d{3}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
# Not after a path, where two numbers are a line and a column.
_CLOCK = r"(?<![:./-]\d)\d?:\d\d(?::\d\d)?(?:[.,]\d+)?(?![\w:])"
_SPAN = r"\d*+(?:[.,]\d++)?+\s?+(?:ns|us|ms|s|secs?|seconds?|mins?|minutes?)\b"
_EPOCH = r"(?<=1)[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
_DRAWN = r"(?:(?:tmp|temp)[\w.-]*|[\w.-]*\d{5}[\w.-]*|[\w-]*[0-9a-f]{8}[\w.-]*|pytest-\d+)"
_ROOTS = r"(?P<root>/(?:var/)?tmp|/dev/shm|/var/folders)"
_TEMPORARY = _ROOTS + r"(?P<below>(?:/[\w.+-]+){0,6}?)/" + _DRAWN + r"(?![\w.-])"
_HEX_START = r"[0-9a-fA-F](?<!\w[0-9a-fA-F])"
_UUID = r"[0-9a-fA-F]{7}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
_ADDRESS = r"(?<=0)x[0-9a-fA-F]+\b"
# With a digit and a letter: the first character is one of them, and the other one follows.
_MIXED = r"(?:(?<=\d)(?=[0-9a-f]*[a-f])|(?<=[a-f])(?=[0-9a-f]*\d))"
_HEX = r"[0-9a-f](?<!\w[0-9a-f])" + _MIXED + r"[0-9a-f]{6,39}\b"
_COUNT = r"(?P<word>\b(?:attempt|try|retry|round|iteration|take)\b\W{0,3})\d+"

_DIGIT = re.compile(r"\d")
_TIMES = re.compile(f"{_START}(?:{_DATE}|{_CLOCK}|{_SPAN}|{_EPOCH})", re.IGNORECASE)
_NAMES = re.compile(_TEMPORARY)
_IDS = re.compile(f"{_HEX_START}(?:{_UUID}|{_ADDRESS})")
_COUNTS = re.compile(_COUNT, re.IGNORECASE)
_HASHES = re.compile(_HEX)
_NUMBERS = re.compile(r"\d\d*(?:\.\d+)?")
_STATUS = re.compile(r"^\s*(?:exit code|process exited with code|exit status)[: ]*#\s*$", re.IGNORECASE)

# Longer texts are compared without any digits, because searching them would be slow.
_LONG = 16_384
_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def mask_times(text: str) -> str:
    """Return a text of arguments without times, temporary names and counts of attempts."""
    text = _drifts(text)
    return _COUNTS.sub(r"\g<word>#", text) if _may_count(text) else text


def mask_result(text: str) -> str:
    """Return a result without times, temporary names, ids and addresses."""
    return text.translate(_DIGITS) if len(text) > _LONG else _without_ids(_drifts(text))


def mask_numbers(text: str) -> str:
    """Return a text without any of these, and without numbers."""
    if len(text) > _LONG:
        return text.translate(_DIGITS)
    return _NUMBERS.sub("#", _HASHES.sub("<id>", _without_ids(_drifts(text))))


def error_words(masked: str) -> str:
    """Return an error text after its noise was removed; empty if it contains no words except a status."""
    words = masked.strip()
    return "" if _STATUS.match(words) else words


def _drifts(text: str) -> str:
    if len(text) > _LONG:
        return text.translate(_DIGITS)
    if _DIGIT.search(text) is not None:
        text = _TIMES.sub("<time>", text)
    elif "/t" not in text:
        return text
    if "/tmp" in text or "/dev/shm" in text or "/var/folders" in text:  # noqa: S108 - parts of texts
        text = _NAMES.sub(r"\g<root>\g<below>/<temporary>", text)
    return text


def _without_ids(text: str) -> str:
    return _IDS.sub("<id>", text) if "0x" in text or text.count("-") >= 4 else text


def _may_count(text: str) -> bool:
    """Return whether a text can name an attempt by its number: `retry` ends with `try`."""
    text = text.lower()
    # Only the middle of `iteration`: some languages have an i of their own.
    return "try" in text or "take" in text or "round" in text or "attempt" in text or "terat" in text


# Arguments that describe a shell call and do not change what it does.
_ABOUT = frozenset(
    {"description", "justification", "explanation", "summary", "security_risk", "timeout", "timeout_ms"}
) | {"yield_time_ms", "max_output_tokens", "sandbox_permissions", "with_escalated_permissions"}
_LEVELS: Mapping[str, Callable[[str], str]] = {"raw": str, "times": mask_times, "numbers": mask_numbers}
_SHOWN = 160
_TEXT_OF = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(", ", ": "), default=str)


# Stands for the result of a failure without words.
WORDLESS = "wordless"


class LateDigest:
    """The digest of a result that is made when it is first compared; most results never are."""

    __slots__ = ("_digest", "_result")

    def __init__(self, result: str) -> None:
        self._result = result
        self._digest = ""

    def __str__(self) -> str:
        if not self._digest:
            self._digest, self._result = _result_digest(ActionResult.DONE, self._result), ""
        return self._digest

    def __eq__(self, other: object) -> bool:
        return str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


@dataclass(frozen=True, slots=True)
class ActionSignature:
    """
    One action, as it is compared.

    Attributes:
        call: Digest of tool and arguments, after the level of noise that was removed from them.
        result: Digest of the result.
        error: Digest of the error text; empty if it did not fail or has no words.
        text: The call in a few words.
    """

    call: str
    result: str | LateDigest = ""
    error: str = ""
    text: str = ""

    def alike(self, other: ActionSignature) -> bool:
        """Return whether both are the same call with the same result."""
        if self.call != other.call:
            return False
        # A failure without words is like any failure of the same call: the host has lost the rest.
        return self.result == other.result or WORDLESS in (self.result, other.result)


def signature_of(action: Action, kind: ActionKind | None = None, *, late: bool = False) -> ActionSignature:
    """
    Return the signature of an action that is over.

    Args:
        kind: Its kind, if that is known.
        late: Whether the call is compared as it is, and the digest of a result is made when it is compared.
            Such a signature has any size, and is not stored.
    """
    kind = kind or kind_of(action.tool, action.arguments)
    text = _arguments(action, kind)
    level = _level(action, kind)
    masked = _LEVELS[level](text)
    call = f"{level}:{action.tool}\0{masked}" if late else _call_digest(action.tool, masked, level)
    short, outcome = _short_call(action.tool, text), action.outcome
    if late and outcome is ActionResult.DONE:
        return ActionSignature(call, LateDigest(action.result), text=short)
    if outcome is ActionResult.DONE or outcome is ActionResult.UNKNOWN:
        return ActionSignature(call, _result_digest(outcome, action.result), text=short)
    words = mask_numbers(action.result)
    error = error_words(words)
    result = digest(outcome.value, words) if error else WORDLESS
    return ActionSignature(call, result, digest(error) if error else "", short)


def _result_digest(outcome: ActionResult, result: str) -> str:
    return digest(outcome.value, mask_result(result))


def joined_signature(signatures: Sequence[ActionSignature]) -> ActionSignature:
    """Return the signature of actions that were made at once, in any order."""
    first, *others = signatures
    if not others:
        return first
    ordered = sorted(signatures, key=lambda one: (one.call, str(one.result)))
    return ActionSignature(
        call=digest(*(one.call for one in ordered)),
        result=digest(*(str(one.result) for one in ordered)),
        error=first.error if all(one.error == first.error for one in others) else "",
        text=" and ".join(dict.fromkeys(one.text for one in signatures)),
    )


def intended_calls(action: Action) -> tuple[frozenset[str], str]:
    """Return the digests that a call could have, depending on its result, and the call in a few words."""
    text = _arguments(action, kind_of(action.tool, action.arguments))
    calls = frozenset(_call_digest(action.tool, mask(text), level) for level, mask in _LEVELS.items())
    return calls, _short_call(action.tool, text)


def digest(*parts: str) -> str:
    """Return a short digest of texts."""
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=9).hexdigest()


def _level(action: Action, kind: ActionKind) -> str:
    if kind is ActionKind.EDIT:
        return "raw"
    outcome = action.outcome
    # Not by `match`, which compares with each kind of outcome, because this is asked for each action.
    if outcome is ActionResult.DONE:
        return "raw" if not action.result or action.result.isspace() else "times"
    return "raw" if outcome is ActionResult.UNKNOWN else "numbers"


def _call_digest(tool: str, masked: str, level: str) -> str:
    return f"{level}:{digest(tool, masked)}"


def _arguments(action: Action, kind: ActionKind) -> str:
    given: Mapping[str, Json] = action.arguments
    if kind is ActionKind.RUN and not _ABOUT.isdisjoint(given):
        given = {key: value for key, value in given.items() if key not in _ABOUT}
    # As the encoder writes it, which takes twice as long to begin.
    pairs: list[str] = []
    for key in given if len(given) == 1 else sorted(given):
        value = given[key]
        if not isinstance(value, str):
            return _TEXT_OF.encode(given)
        pairs.append(f"{encode_basestring(key)}: {encode_basestring(value)}")
    return f"{{{', '.join(pairs)}}}"


def _short_call(tool: str, text: str) -> str:
    return f"{tool[:_SHOWN]} {text}" if len(text) <= _SHOWN else f"{tool[:_SHOWN]} {text[:_SHOWN]}..."
