"""
The baseline of ``hookharness check``: a TOML file of problems that are accepted, each with a reason.

An entry names a problem as the report does, and may name its host, its plugin or component, and its hooks.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.check.hook_statistics import is_same
from pytest_hookharness.execution.user_files import create_file
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.model.checkup import AcceptedProblem, CheckReport, HookSet, Problem, is_named
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.name_hint import name_hint

_KEYS = ("problem", "host", "part", "hooks", "reason")
_HEAD = """\
# Accepted problems of the hooks. `hookharness check --baseline FILE` lists them with their reasons, and they
# do not fail it. Each needs a reason.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class BaselineEntry:
    """
    One accepted problem.

    Attributes:
        host: Its host; empty for any.
        part: Its plugin, skill, command or subagent, as the report names it; empty for any.
        hooks: The commands that the problem's hooks must be among; empty for any.
    """

    problem: str
    host: str = ""
    part: str = ""
    hooks: tuple[str, ...] = ()
    reason: str

    def is_for(self, problem: Problem, place: HookSet) -> bool:
        """Return whether the entry accepts a problem of a hook set."""
        same = is_same(self.problem, problem.id)
        commands = _commands(place, problem)
        known = not self.hooks or (bool(commands) and {*self.hooks}.issuperset(commands))
        return same and known and self.is_about(place)

    def is_about(self, place: HookSet) -> bool:
        """Return whether the entry is about the hooks of a hook set."""
        return self.host in ("", place.host) and self.part in ("", place.part)


def read_baseline(file: Path) -> tuple[BaselineEntry, ...]:
    """Return the entries of a baseline file; raise ``OptionError`` if it is unreadable, or one is wrong."""
    try:
        content = tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise OptionError(f"--baseline: {file} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise OptionError(f"--baseline: {file} is not TOML: {error}") from error
    entries = content.get("accepted", [])
    if {*content} - {"accepted"} or not isinstance(entries, list):
        raise OptionError(f"--baseline: {file}: expected only entries that begin with [[accepted]]")
    found: dict[tuple[str, str, str], BaselineEntry] = {}
    for number, each in enumerate(entries, 1):
        entry = _entry(file, number, each)
        same = found.setdefault((entry.problem, entry.host, entry.part), entry)
        if same is not entry:
            where = f"--baseline: {file}: accepted problem {number}"
            raise OptionError(f"{where}: {entry.problem} is accepted twice; keep one entry")
    return tuple(found.values())


def _entry(file: Path, number: int, entry: Any) -> BaselineEntry:
    where = f"--baseline: {file}: accepted problem {number}"
    values = entry if isinstance(entry, dict) else {}
    if unknown := [key for key in values if key not in _KEYS]:
        raise OptionError(f"{where}: has an unknown key {unknown[0]!r}; allowed are {', '.join(_KEYS)}")
    for key in ("problem", "reason"):
        if not isinstance(values.get(key), str) or not values[key].strip():
            raise OptionError(f'{where}: has no {key}; write {key} = "..."')
    for key in ("host", "part"):
        if not isinstance(values.get(key, ""), str):
            raise OptionError(f'{where}: {key} is no text; write {key} = "..."')
    commands = values.get("hooks", [])
    if not isinstance(commands, list) or not all(isinstance(one, str) for one in commands):
        raise OptionError(f'{where}: hooks is no list of commands; write hooks = ["..."]')
    host = values.get("host", "")
    if host and host not in hosts.names():
        raise OptionError(f"{where}: there is no host {host!r}{name_hint(host, hosts.names(), 'hosts')}")
    return BaselineEntry(
        problem=values["problem"],
        host=host,
        part=values.get("part", ""),
        hooks=tuple(commands),
        reason=values["reason"].strip(),
    )


def accept(reports: Sequence[CheckReport], entries: Sequence[BaselineEntry], file: Path) -> list[CheckReport]:
    """
    Return reports without the problems that a baseline accepts, which are listed with their reasons.

    The last report that an entry is about says that its problem was not seen, if all of them are complete.
    """
    accepted = [_accept(report, entries) for report in reports]
    for entry in entries:
        places = [place for place, report in enumerate(accepted) if entry.is_about(report.place)]
        about = [accepted[place] for place in places]
        if not all(map(is_complete, about)) or any(
            entry.is_for(one.problem, report.place) for report in about for one in report.accepted
        ):
            continue
        for place in places[-1:]:
            text = f"{entry.problem} is accepted in {file} and was not seen; remove it there if it is fixed."
            accepted[place] = replace(accepted[place], open=(*accepted[place].open, text))
    return accepted


def _accept(report: CheckReport, entries: Sequence[BaselineEntry]) -> CheckReport:
    found = [(one, entry_for(report.place, one, entries)) for one in report.problems]
    return replace(
        report,
        problems=tuple(one for one, entry in found if entry is None),
        accepted=tuple(AcceptedProblem(problem=one, reason=entry.reason) for one, entry in found if entry),
    )


def is_complete(report: CheckReport) -> bool:
    """Return whether a check looked for all problems of all hooks."""
    return not (report.only or report.undecided or report.untried or report.interrupted or report.failed)


def entry_for(place: HookSet, problem: Problem, entries: Sequence[BaselineEntry]) -> BaselineEntry | None:
    """Return the last entry by which a baseline accepts a problem of a hook set; ``None`` for none."""
    return next((one for one in reversed(entries) if one.is_for(problem, place)), None)


def _commands(place: HookSet, problem: Problem) -> list[str]:
    """Return the commands of a problem's hooks, each once."""
    own = (hook.command for hook in place.hooks if is_named(hook.command, problem.symptom.hook))
    return [*dict.fromkeys(own)]


def write_baseline(file: Path, reports: Iterable[CheckReport]) -> int:
    """
    Write a new baseline file with the problems of reports that are not fixed, without reasons.

    Returns:
        The number of entries.

    Raises:
        OptionError: The file exists, or cannot be written.
    """
    found = (
        _new_entry(report.place, problem)
        for report in reports
        for problem in report.problems
        if not problem.is_fixed
    )
    entries = [*dict.fromkeys(found)]
    try:
        create_file(file, _HEAD + "".join(entries))
    except FileExistsError:
        raise OptionError(f"--write-baseline: {file} exists already; move it away") from None
    except OSError as error:
        raise OptionError(f"--write-baseline: {file} cannot be written: {error.strerror}") from error
    return len(entries)


def _new_entry(place: HookSet, problem: Problem) -> str:
    keys = {"problem": problem.id, "host": place.host, "part": place.part, "reason": ""}
    # An empty part would be any.
    lines = [f"{key} = {_toml(text)}\n" for key, text in keys.items() if text or key != "part"]
    if commands := _commands(place, problem):
        lines.insert(-1, f"hooks = [{', '.join(map(_toml, commands))}]\n")
    return f"\n[[accepted]]\n{''.join(lines)}"


def _toml(text: str) -> str:
    # A basic string of TOML has the escapes of JSON.
    return json.dumps(text)
