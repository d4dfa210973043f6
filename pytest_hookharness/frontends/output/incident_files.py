"""
Debugging entries as files: where each goes, and what it says of the machine.

Replacing: a file of the person's that is written anew, whole or not at all.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from io import FileIO
from pathlib import Path
from tempfile import TemporaryFile

import pytest

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.response import Response
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.reports.markdown.incident import IncidentContext, incident_report
from pytest_hookharness.reports.redaction import Secrets, find_secrets, redacted
from pytest_hookharness.reports.trace import schema


def replace_file(file: Path, data: bytes, mode: int | None = None) -> None:
    """
    Put bytes in the place of a file, all at once; a link stays one.

    Args:
        file: The file.
        data: What is put there.
        mode: Its permission bits; ``None`` for those that it has.

    Raises:
        OSError: It cannot be written, and is as it was.
    """
    real = file.resolve()
    bits = real.stat().st_mode & 0o7777 if mode is None else mode
    number, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-")
    fresh = Path(name)
    try:
        with os.fdopen(number, "wb") as written:
            written.write(data)
            written.flush()
            os.fsync(number)
        fresh.chmod(bits)
        fresh.replace(real)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


_LONGEST = 80


def compose(outcome: Outcome, replay_command: str, asked: Sequence[Response] = ()) -> str:
    """
    The entry of an outcome, with the day, and the versions of what it was played with; without secrets.
    """
    secrets = secrets_of(outcome.scenario)
    # States are told nowhere in it, and there may be very many.
    seen = replace(outcome, trace=replace(outcome.trace, states={}))
    return incident_report(redacted(seen, secrets), redacted(circumstances(replay_command, asked), secrets))


def circumstances(replay_command: str, asked: Sequence[Response] = ()) -> IncidentContext:
    """
    Of this day, and of what runs here.
    """
    versions = (
        f"pytest-hookharness {version('pytest-hookharness')}",
        f"{platform.python_implementation()} {platform.python_version()}",
        f"{platform.system()} {platform.release()}",
    )
    day = datetime.now().astimezone().date().isoformat()
    return IncidentContext(
        replay_command=replay_command, day=day, versions=versions, asked=asked, root=Path.cwd()
    )


def secrets_of(scenario: Scenario) -> Secrets:
    """
    What must not be written down: secrets in the variables of a scenario, and in those of the harness itself.
    """
    return find_secrets(scenario.env, os.environ, words=schema.words())


def make_folder(named: str, option: str, *, below: Path, mode: int = 0o777) -> Path:
    """
    Make the folder that an option names, see that files can be made in it, and tell its full name.

    Workers of xdist take over the options and may stand elsewhere.

    Raises:
        pytest.UsageError: It cannot be made or written.
    """
    if not named.strip():
        raise pytest.UsageError(f"{option}: names no folder; name one, which is made if need be")
    folder = below / named
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        what = "written" if folder.is_dir() else "made"
        raise pytest.UsageError(
            f"{option}: {folder} cannot be {what} ({error.strerror}); name a folder that can be written"
        ) from None
    return folder


def require_new(file: Path) -> None:
    """
    See that the file of ``--output`` is not there yet and can be made, before anything is done for it.

    Raises:
        pytest.UsageError: It is there, or cannot be made.
    """
    if file.exists():
        raise pytest.UsageError(
            f"--output: {file} is there already, and somebody may have filled it in; allowed is a new file. "
            "Name another one, or move it away"
        )
    if not file.parent.is_dir():
        raise pytest.UsageError(
            f"--output: {file.parent} is no folder; make it, or name a file in another one"
        )
    make_folder(str(file.parent), "--output", below=Path.cwd())


def most_telling(outcomes: Sequence[Outcome]) -> Outcome:
    """
    Of all that a test played, what broke a promise first, or else what it played last.
    """
    return next((outcome for outcome in outcomes if not outcome.passed), outcomes[-1])


def write_in(folder: Path, item: str, text: str) -> Path:
    """
    Write an entry for a test item into a folder, beside what is there: somebody may have filled it in.
    """
    with create_in(folder, item, ".md") as file:
        write_all(file, text.encode())
    return Path(str(file.name))


def create_in(folder: Path, item: str, suffix: str) -> FileIO:
    """
    A new file, which says by its name which item it is about and is that of no other.
    """
    readable = re.sub(r"[^A-Za-z0-9]+", "-", item)[-_LONGEST:].strip("-")
    name = f"{readable}-{hashlib.sha256(item.encode()).hexdigest()[:8]}"
    path, number = folder / f"{name}{suffix}", 1
    while True:
        try:
            return path.open("xb", buffering=0)
        except FileExistsError:
            number += 1
            path = folder / f"{name}-{number}{suffix}"


def write_all(file: FileIO, data: bytes) -> None:
    """
    Hand bytes to the system, all of them.
    """
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]


def write_new(path: Path, text: str) -> None:
    """
    Write a file that is not there yet.

    Raises:
        FileExistsError: It is; an entry that somebody filled in is never written over.
    """
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
