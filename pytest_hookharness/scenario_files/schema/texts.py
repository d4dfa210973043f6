"""
The grammars of single texts in scenario files, and the folders that texts name.

Patterns use only what Python and JSON Schema (ECMA 262) have in common. Functions that read a text raise
``ValueError`` with the problem, in words that follow the text.
"""

from __future__ import annotations

import re
from pathlib import Path

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.regex import Regex
from pytest_hookharness.model.trace import is_cache

NAME = r"[A-Za-z0-9_][A-Za-z0-9_.\-]*"
HOST = r"[A-Za-z0-9_][A-Za-z0-9_.\-]*(@[A-Za-z0-9_.+\-]+)?"
VARIABLE = r"[A-Za-z_][A-Za-z0-9_]*"
COMMAND = r"(?!\.\.?(?![^\x00]))[^/\x00]+"
WORDS = r"[^\x00]+"
NO_NUL = r"[^\x00]*"
EVENT = r"[A-Za-z][A-Za-z0-9_.:\-]{3,}"
FINDING = r"[A-Z][A-Z0-9]*(-[A-Z0-9]+)*"
BEHAVIOUR = r"[A-Za-z_][A-Za-z0-9_\-]*"
MODULE = r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*"
MODE = r"(0o?)?[0-7]{3,4}"
ABSOLUTE = r"/[^\x00]*"
STEP = r"(?!\.\.?(?![^/\x00]))[^/\x00]+"
INSIDE = rf"(\./)?{STEP}(/{STEP})*"
RELATIVE = r"[^/\x00][^\x00]*"
FOLDER = rf"/|/?{STEP}(/{STEP})*"
DURATION = r"[0-9]{1,9}(\.[0-9]{1,9})?(ms|s|m|h|d)"

# Seconds.
SHORTEST_LIMIT = 0.001
# Seconds of the longest duration: clocks and calendars end some thousand years from now.
LONGEST = 36525 * 86400.0

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def matches(pattern: str, text: str) -> bool:
    """Return whether a pattern matches the whole text."""
    return re.fullmatch(pattern, text) is not None


def read_inside(text: str) -> str:
    """Return a path inside the workspace."""
    if text.startswith("/"):
        raise ValueError("is absolute; paths here are relative to the workspace")
    if ".." in text.split("/"):
        raise ValueError("leaves the workspace")
    return text.removeprefix("./")


def read_path_of_tool(text: str) -> str:
    """Return a path that the agent gives to a tool, unchanged, because hooks see it as it is."""
    if text.startswith("/"):
        raise ValueError("is absolute; paths here are relative to the workspace")
    depth = 0
    for step in text.split("/"):
        depth += {"..": -1, ".": 0, "": 0}.get(step, 1)
        if depth < 0:
            raise ValueError("leaves the workspace; for such a path write a call of the host's own `tool`")
    if depth == 0:
        raise ValueError("is the workspace itself, and no file in it")
    return text.removeprefix("./")


def read_duration(text: str) -> float:
    """Return the seconds of a duration such as ``301s``, ``5m``, ``2h`` or ``250ms``."""
    if not matches(DURATION, text):
        raise ValueError("is not a duration")
    unit = text.lstrip("0123456789.")
    seconds = float(text.removesuffix(unit)) * UNITS[unit]
    if seconds > LONGEST:
        raise ValueError(f"is longer than {LONGEST / UNITS['d']:g}d, a hundred years")
    return seconds


def read_limit(text: str) -> float:
    """Return the seconds of a time limit; raise `ValueError` if it is too short for anything to run."""
    if (seconds := read_duration(text)) < SHORTEST_LIMIT:
        raise ValueError("is too short for anything to run; write 1ms or more")
    return seconds


def read_mode(text: str) -> int:
    """Return permission bits, given in octal as for ``chmod``."""
    if not matches(MODE, text):
        raise ValueError("is not a mode")
    return int(text.removeprefix("0o"), 8)


def read_regex(text: str) -> str:
    """Return a regular expression, unchanged."""
    try:
        return Regex(text).pattern
    except re.error as error:
        raise ValueError(f"is not a regular expression: {error}") from None


# Stands for the repository that contains the scenario file. A folder of that name is `./repository`.
REPOSITORY = "repository"


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfound:
    """
    The reason why a folder cannot be used.

    Attributes:
        missing: The component of the path that does not exist; empty for other reasons.
        there: The existing folders beside it.
    """

    why: str
    missing: str = ""
    there: tuple[str, ...] = ()


def find_folder(text: str, base: Path, *, confined: bool, or_file: bool = False) -> Path | Unfound:
    """
    Return the absolute path of a folder, with links resolved.

    If ``confined``, the folder must be below ``base``, or be its repository. With ``or_file`` it may also be
    a file, and never is the repository.
    """
    if text == REPOSITORY and not or_file:
        return _find_repository(base)
    if "\0" in text or not text:
        return Unfound(why="is not a path")
    if confined and text.startswith("/"):
        return Unfound(why="is absolute; write it relative to the scenario file")
    if confined and ".." in text.split("/"):
        hint = f"; for the repository that contains it, write `{REPOSITORY}`"
        if or_file:
            hint = "; put it below that folder, as with `hookharness record -o FOLDER`"
        return Unfound(why=f"leaves the scenario's folder{hint}")
    try:
        root = base.resolve()
        folder = (root / text).resolve()
        if confined and not folder.is_relative_to(root):
            return Unfound(why=f"is a link that leaves the scenario's folder, to {folder}")
        if folder.is_dir() or (or_file and folder.is_file()):
            return folder
        if folder.exists():
            return Unfound(why="is not a folder")
        return _missing(folder, root if confined else None, or_file=or_file)
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or error
        return Unfound(why=f"cannot be looked up: {reason}")


def _find_repository(base: Path) -> Path | Unfound:
    top = base.resolve()
    found = next((folder for folder in (top, *top.parents) if (folder / ".git").exists()), None)
    return found or Unfound(why=f"does not exist: neither {top} nor a folder above it contains .git")


def _missing(folder: Path, root: Path | None, *, or_file: bool) -> Unfound:
    there = next(parent for parent in folder.parents if parent.is_dir())
    missing = folder.relative_to(there).parts[0]
    names = sorted(
        entry.name
        for entry in there.iterdir()
        if (or_file or entry.is_dir())
        and not is_cache(entry.name)
        and (root is None or entry.resolve().is_relative_to(root))
    )
    return Unfound(
        why=f"does not exist: {there} has no {'entry' if or_file else 'folder'} {missing}",
        missing=missing,
        there=tuple(names),
    )
