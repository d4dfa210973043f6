"""Texts that differ between two runs of one session, and are made alike before a comparison."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

_ISO = r"\d{4}-\d\d-\d\d(?:T|-| )\d\d[:-]\d\d[:-]\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?"


@dataclass(frozen=True, slots=True)
class Normalisation:
    """A kind of text that differs in every run, found by a pattern or a key, and the text to put instead."""

    what: str
    pattern: str
    put: str
    keys: tuple[str, ...] = ()


_NAMES = ("username", "hostname", "py_interpreter_path")
_NUMBERS = ("duration_ms", "timestamp", "seconds_since_last_response", "context_tokens", "totalDurationMs")

# In this order. Folders come first: the rest of a path stays.
TABLE = (
    Normalisation("folders of the run, also with dashes for slashes", "", "<folder>"),
    Normalisation("UUIDs", r"\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b", "<uuid>"),
    Normalisation("identifiers of calls", r"\b(?:toolu_|call_)[0-9A-Za-z_]+", "<call>"),
    Normalisation("identifiers of outputs", r"Chunk ID: [0-9a-f]+", "Chunk ID: <number>"),
    Normalisation(
        "names of transcripts", r"\bsession-\d{4}-\d\d-\d\dT\d\d-\d\d-[0-9a-f]{8}\b", "session-<time>"
    ),
    Normalisation("times", rf"\b{_ISO}", "<time>"),
    Normalisation("days in paths", r"\b\d{4}/\d\d/\d\d\b", "<day>"),
    Normalisation("times that results contain", r"Wall time: [0-9.]+ seconds", "Wall time: <seconds>"),
    Normalisation("names of subagents", r"\ba[0-9a-f]{16}\b", "<agent>"),
    Normalisation("counts of subagents", r"<(subagent_tokens|duration_ms)>\d+", r"<\1><number>"),
    Normalisation("process groups", r"Process Group PGID: (?:\d+|\(none\))", "Process Group PGID: <number>"),
    Normalisation("names of models", "", "<model>", ("model",)),
    Normalisation("names of the user, the machine and the interpreter", "", "<name>", _NAMES),
    Normalisation("durations and sizes", "", "<number>", _NUMBERS),
)

# Environment variables of hooks that are not compared: those of the shell and of the user, and those that
# name a process, a socket, a token or a folder of a running host. Some programs put such folders into PATH.
# The comparison itself sets QWEN_CODE_NO_RELAUNCH and the model of Qwen Code.
NOT_COMPARED = frozenset({
    "_", "SHLVL", "PWD", "OLDPWD", "SHELL", "USER", "LOGNAME", "TZ", "LC_ALL", "LC_CTYPE", "PATH",
    "CLAUDE_PID", "CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_CODE_CHILD_NOTES_DIR",
    "QWEN_CODE_LAUNCHER_PID", "QWEN_CODE_CLI", "QWEN_CODE_MANAGED_NPM_PIN", "QWEN_CODE_MODEL",
    "QWEN_CODE_MODEL_IDENTITY", "QWEN_CODE_NO_RELAUNCH",
})  # fmt: skip


def normalised(value: Json, folders: Sequence[tuple[str, str]], key: str = "") -> Json:
    """Return the value of a key, with everything that the table lists replaced by a fixed form."""
    row = next((row for row in TABLE if key in row.keys), None)
    if row is not None and isinstance(value, str | int | float) and not isinstance(value, bool):
        return row.put
    if isinstance(value, str):
        return normalised_text(value, folders)
    if isinstance(value, Mapping):
        return {normalised_text(name, folders): normalised(one, folders, name) for name, one in value.items()}
    if isinstance(value, Sequence):
        return [normalised(one, folders, key) for one in value]
    return value


def normalised_text(text: str, folders: Sequence[tuple[str, str]]) -> str:
    """Return a text in which everything in the table is made alike."""
    # The longest first: one folder may lie in another, and their slugs likewise.
    for folder, name in sorted(folders, key=lambda pair: -len(pair[0])):
        text = text.replace(folder, f"<{name}>").replace(re.sub(r"[^0-9A-Za-z]", "-", folder), f"<{name}>")
    for row in TABLE:
        if row.pattern:
            text = re.sub(row.pattern, row.put, text)
    return text
