"""
The baseline of ``hookharness check``: a TOML file of problems that are accepted, each with a reason.

An entry names a problem as the report does, and may name its host.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.model.checkup import AcceptedProblem, CheckReport, Problem
from pytest_hookharness.model.fast_dataclass import dataclass

_KEYS = ("problem", "host", "reason")
_HEAD = """\
# Accepted problems of the hooks. `hookharness check --baseline FILE` lists them with their reasons, and they
# do not fail it. Each needs a reason.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineEntry:
    """
    One accepted problem.

    Attributes:
        problem: Its name.
        host: Its host; empty for any.
        reason: Why it is accepted.
    """

    problem: str
    host: str = ""
    reason: str


def read_baseline(file: Path) -> tuple[BaselineEntry, ...]:
    """
    Return the entries of a baseline file.

    Raises:
        OptionError: It cannot be read, or an entry is wrong.
    """
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline: {file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline: {file} is not TOML: {error}") from error
    entries = content.get("accepted", [])
    if {*content} - {"accepted"} or not isinstance(entries, list):
        raise OptionError(f"--baseline: {file}: expected only entries that begin with [[accepted]]")
    return tuple(_entry(file, number, entry) for number, entry in enumerate(entries, 1))


def _entry(file: Path, number: int, entry: Any) -> BaselineEntry:
    where = f"--baseline: {file}: accepted problem {number}"
    values = entry if isinstance(entry, dict) else {}
    if unknown := [key for key in values if key not in _KEYS]:
        raise OptionError(f"{where}: has an unknown key {unknown[0]!r}; allowed are {', '.join(_KEYS)}")
    for key in ("problem", "reason"):
        if not isinstance(values.get(key), str) or not values[key].strip():
            raise OptionError(f'{where}: has no {key}; write {key} = "..."')
    return BaselineEntry(
        problem=values["problem"], host=str(values.get("host", "")), reason=values["reason"].strip()
    )


def accept(report: CheckReport, entries: Sequence[BaselineEntry], file: Path) -> CheckReport:
    """Return a report without the problems that a baseline accepts, which are listed with their reasons."""
    found = [(problem, _match(report, problem, entries)) for problem in report.problems]
    seen = {entry for _, entry in found}
    complete = not (report.only or report.undecided or report.interrupted or report.failed)
    gone = tuple(
        f"{entry.problem} is accepted in {file} and was not seen; remove it there if it is fixed."
        for entry in entries
        if complete and entry not in seen and entry.host in ("", report.place.host)
    )
    return replace(
        report,
        problems=tuple(problem for problem, entry in found if entry is None),
        accepted=tuple(AcceptedProblem(problem=one, reason=entry.reason) for one, entry in found if entry),
        open=(*report.open, *gone),
    )


def _match(report: CheckReport, problem: Problem, entries: Sequence[BaselineEntry]) -> BaselineEntry | None:
    host = report.place.host
    return next(
        (entry for entry in entries if entry.problem == problem.id and entry.host in ("", host)), None
    )


def require_new(file: Path) -> None:
    """
    Check that a new baseline file can be written.

    Raises:
        OptionError: It exists, or there is no folder for it.
    """
    if file.exists() or file.is_symlink():
        raise OptionError(f"--write-baseline: {file} exists already; move it away")
    if not file.parent.is_dir():
        raise OptionError(f"--write-baseline: {file} cannot be written: there is no folder {file.parent}")


def write_baseline(file: Path, reports: Iterable[CheckReport]) -> int:
    """
    Write a new baseline file with all problems of some reports, without reasons; return their number.

    Raises:
        OptionError: The file exists, or cannot be written.
    """
    problems = [(report.place.host, problem) for report in reports for problem in report.problems]
    entries = [
        f'\n[[accepted]]\nproblem = {_toml(problem.id)}\nhost = {_toml(host)}\nreason = ""\n'
        for host, problem in problems
    ]
    try:
        create_file(file, _HEAD + "".join(entries))
    except FileExistsError:
        raise OptionError(f"--write-baseline: {file} exists already; move it away") from None
    except OSError as error:
        raise OptionError(f"--write-baseline: {file} cannot be written: {error.strerror}") from error
    return len(problems)


def _toml(text: str) -> str:
    # A basic string of TOML has the escapes of JSON.
    return json.dumps(text)
