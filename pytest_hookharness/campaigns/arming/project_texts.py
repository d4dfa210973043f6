"""The text files of a project or a plugin."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TypeAlias

from pytest_hookharness.model.protocol import Json
from pytest_hookharness.simulation.testbed.run_settings import SimulationError

# Folders with the files of others: version control, packages and virtual environments.
_FOREIGN = frozenset({".git", "node_modules", ".venv", "venv"})
# A JSON string, which stays as it is, or what some editors also allow: a comment; a trailing comma.
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_LAST_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])')
# Comment lines of scripts for a shell, Python or JavaScript.
COMMENT_LINES = re.compile(r"^[ \t]*(?:#|//|\*)[^\n]*", re.MULTILINE)
# The files of the folders that were walked, by path and by name; ``None`` outside of `walks_kept`.
_Walk: TypeAlias = tuple[Mapping[str, Path], Mapping[str, Sequence[Path]]]
_walked: ContextVar[dict[Path, _Walk] | None] = ContextVar("walked", default=None)


@contextmanager
def walks_kept() -> Generator[None]:
    """Walk each folder once for all callers of `project_files`, for folders that do not change meanwhile."""
    before = _walked.set({})
    try:
        yield
    finally:
        _walked.reset(before)


def project_files(root: Path) -> Sequence[Path]:
    """Return the files of a project in order, links left out; those of others are not even looked for."""
    return [*files_by_path(root).values()]


def files_by_path(root: Path) -> Mapping[str, Path]:
    """Return the files of a project by their path in it, in the order of `project_files`."""
    return _look(root)[0]


def files_named(root: Path, names: Collection[str]) -> Sequence[Path]:
    """Return the files of a project that have one of these names, in the order of `project_files`."""
    by_name = _look(root)[1] if names else {}
    return sorted(file for name in names for file in by_name.get(name, ()))


def _look(root: Path) -> _Walk:
    known = {} if (kept := _walked.get()) is None else kept
    if root not in known:
        by_name = defaultdict[str, list[Path]](list)
        files = {file.relative_to(root).as_posix(): file for file in sorted(_walk(root))}
        for file in files.values():
            by_name[file.name].append(file)
        known[root] = files, by_name
    return known[root]


def _walk(root: Path) -> Iterator[Path]:
    """Yield the files below a folder; only what lists a folder also says what is a file."""
    waiting = [os.fspath(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as listed:
                entries = [*listed]
        except OSError:
            # A folder that cannot be read, or that is there no longer.
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                waiting += [entry.path] if entry.name not in _FOREIGN else []
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def is_small(file: Path, most: int) -> bool:
    """Return whether a file exists and is not larger than a number of bytes."""
    try:
        return file.stat().st_size <= most
    except OSError:
        return False


def read_known_text(file: Path) -> str:
    """Return the text of a file; empty if there is no such file, or if it cannot be read."""
    try:
        return read_text(file) or ""
    except SimulationError:
        return ""


def read_object(file: Path) -> Mapping[str, Json]:
    """Return the object in a JSON file; empty if there is none, or if it cannot be read."""
    try:
        content: Json = json.loads(read_known_text(file))
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, Mapping) else {}


def read_text(file: Path) -> str | None:
    """
    Return the text of a file; ``None`` if there is no such file.

    Raises:
        SimulationError: It cannot be read.
    """
    try:
        return file.read_text("utf-8-sig") if file.is_file() else None
    except (OSError, UnicodeDecodeError) as error:
        raise SimulationError(f"{file}: cannot be read: {error}") from error


def without_json_comments(text: str) -> str:
    """Return JSON without comments and trailing commas; empty if the result is not valid JSON."""
    plain = _LAST_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text))
    try:
        json.loads(plain)
    except (ValueError, RecursionError):
        return ""
    return plain
