"""
This module is concerned with debugging entries as files: where each goes, and what it says of the machine.

Top floor.
"""

from __future__ import annotations

import hashlib
import platform
import re
from collections.abc import Sequence
from datetime import datetime
from importlib.metadata import version
from pathlib import Path

import pytest

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.response import Response
from pytest_hookharness.reports.entry import Circumstances, entry

_LONGEST = 80


def compose(outcome: Outcome, again: str, asked: Sequence[Response] = ()) -> str:
    """
    The entry of an outcome, with the day, and the versions of what it was played with.
    """
    versions = (
        f"pytest-hookharness {version('pytest-hookharness')}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"{platform.system()} {platform.release()}",
    )
    day = datetime.now().astimezone().date().isoformat()
    around = Circumstances(again=again, day=day, versions=versions, asked=asked, root=Path.cwd())
    return entry(outcome, around)


def make_folder(config: pytest.Config, named: str) -> None:
    """
    Make the folder of ``--hook-entry-dir``, and name it in full.

    Workers of xdist take over the options and may stand elsewhere.

    Raises:
        pytest.UsageError: It cannot be made.
    """
    if not named.strip():
        raise pytest.UsageError("--hook-entry-dir: names no folder; name one, which is made if need be")
    folder = config.invocation_params.dir / named
    config.option.hook_entry_dir = str(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(
            f"--hook-entry-dir: {folder} cannot be made ({error.strerror}); name a folder that can be written"
        ) from None


def most_telling(outcomes: Sequence[Outcome]) -> Outcome:
    """
    Of all that a test played, what broke a promise first, or else what it played last.
    """
    return next((outcome for outcome in outcomes if not outcome.passed), outcomes[-1])


def write_in(folder: Path, item: str, text: str) -> Path:
    """
    Write an entry for a test item into a folder, beside what is there: somebody may have filled it in.
    """
    name, number = _name(item), 1
    path = folder / f"{name}.md"
    while True:
        try:
            write_new(path, text)
        except FileExistsError:
            number += 1
            path = folder / f"{name}-{number}.md"
        else:
            return path


def write_new(path: Path, text: str) -> None:
    """
    Write a file that is not there yet.

    Raises:
        FileExistsError: It is; an entry that somebody filled in is never written over.
    """
    with path.open("x", encoding="utf-8") as file:
        file.write(text)


def _name(item: str) -> str:
    """
    A file name that says which item it is, and is that of no other.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", item)[-_LONGEST:].strip("-")
    return f"{readable}-{hashlib.sha256(item.encode()).hexdigest()[:8]}"
