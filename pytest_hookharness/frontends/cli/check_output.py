"""What ``hookharness check`` prints: the formats of a report, and which problems make it fail."""

from __future__ import annotations

import difflib
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pytest_hookharness import __version__
from pytest_hookharness.campaigns.check.hook_statistics import is_same
from pytest_hookharness.frontends import screen
from pytest_hookharness.frontends.checkup import status_of
from pytest_hookharness.frontends.option_types import OptionError
from pytest_hookharness.judging.findings.codes import TIMEOUT_UNIT, UNQUOTED_PATH
from pytest_hookharness.judging.findings.finding_catalogue import (
    EVENT_UNKNOWN,
    NEVER_FIRED,
    NOT_RUN,
    catalogue,
)
from pytest_hookharness.model.bad_ends import BAD_ENDS
from pytest_hookharness.model.checkup import CheckReport, Problem, Symptom, is_named
from pytest_hookharness.reports.ci.sarif import SarifLocation, SarifRunInfo
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.check_report import ReplayCommand, as_json, render_check

ANY, MUST_FIX, NONE = "any", "must-fix", "none"


def check_words(text: str) -> tuple[str, ...]:
    """
    Read the value of ``--fail-on``: ``any``, ``must-fix``, ``none``, or names and codes of problems.

    Raises:
        OptionError: No problem has such a name.
    """
    words = tuple(word.strip().lower() for word in text.split(",") if word.strip())
    known = {word.lower() for one in (*catalogue(), *BAD_ENDS) for word in (one.name, one.code) if word}
    for word in words:
        if word not in known and (word not in (ANY, MUST_FIX, NONE) or len(words) > 1):
            raise OptionError(_describe_unknown(word, known))
    if not words:
        raise OptionError("--fail-on: is empty; write any, none, or names such as livelock,NOT-RUN")
    return words


def _describe_unknown(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, [ANY, MUST_FIX, NONE, *known], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    return (
        "--fail-on: expected any, must-fix, none, or names and codes from `hookharness findings`; "
        f"got {word!r}{hint}"
    )


def status(found: Sequence[CheckReport], fail_on: Sequence[str]) -> int:
    """Return the exit status of some reports if only some problems count."""
    return status_of([replace(one, problems=tuple(_counting(one, fail_on))) for one in found])


def _counting(report: CheckReport, fail_on: Sequence[str]) -> list[Problem]:
    return [
        problem
        for problem in report.problems
        if not problem.is_fixed
        and (
            ANY in fail_on
            or (MUST_FIX in fail_on and problem.symptom.must_fix)
            or any(is_same(word, problem.symptom.kind.lower()) for word in fail_on)
            or problem.symptom.code.lower() in fail_on
        )
    ]


def print_reports(found: Sequence[CheckReport], form: str, replay: ReplayCommand, code: int) -> None:
    """Print reports in a format; ``code`` is the exit status."""
    print(_FORMATS[form](found, replay, code))


def _text(found: Sequence[CheckReport], replay: ReplayCommand, _: int) -> str:
    # A check that is not complete is neither green nor red.
    left = [any(not problem.is_fixed for problem in report.problems) for report in found]
    passed = [False if bad else None if one.undecided else True for bad, one in zip(left, found, strict=True)]
    texts = (render_check(report, replay) for report in found)
    return "\n\n".join(map(screen.headed, texts, passed))


def _sarif(found: Sequence[CheckReport], _: ReplayCommand, code: int) -> str:
    from pytest_hookharness.reports.ci.check_results import sarif_log

    whole = sarif_log(found, catalogue(), _info(), locate, version=__version__, status=code)
    return json.dumps(whole, indent=2)


def _github(found: Sequence[CheckReport], replay: ReplayCommand, _: int) -> str:
    from pytest_hookharness.reports.ci.check_results import github_log

    if file := os.environ.get("GITHUB_STEP_SUMMARY"):
        _add_summary(Path(file), _markdown(found, replay, 0))
    return "\n".join(github_log(found, replay, _info(), locate))


def _add_summary(file: Path, text: str) -> None:
    from pytest_hookharness.reports.ci.github import MOST_BYTES

    try:
        used = file.stat().st_size if file.exists() else 0
        if used + len(text.encode()) <= MOST_BYTES:
            with file.open("a", encoding="utf-8") as summary:
                summary.write(text)
        else:
            print("hookharness: the report does not fit into the step summary", file=sys.stderr)
    except OSError as error:
        print(
            f"hookharness: the step summary could not be written: {plain(str(error), 400)}", file=sys.stderr
        )


def _markdown(found: Sequence[CheckReport], replay: ReplayCommand, _: int) -> str:
    from pytest_hookharness.reports.ci.check_results import markdown

    return markdown(found, replay)


_FORMATS: Mapping[str, Callable[[Sequence[CheckReport], ReplayCommand, int], str]] = {
    "text": _text,
    "json": lambda found, replay, _: json.dumps(as_json(found, replay), indent=2),
    "sarif": _sarif,
    "github": _github,
    "markdown": _markdown,
}
FORMATS = tuple(_FORMATS)
_OF_SETTINGS = frozenset({EVENT_UNKNOWN.name, TIMEOUT_UNIT.name, UNQUOTED_PATH.name})


def _info() -> SarifRunInfo:
    root = Path(os.environ.get("GITHUB_WORKSPACE") or Path.cwd()).resolve()
    return SarifRunInfo("hookharness check", SarifLocation(root), root, lambda _: None)


def _is_of_settings(symptom: Symptom) -> bool:
    """Return whether a problem is one of an entry, whatever its script is like."""
    return symptom.kind in _OF_SETTINGS or (
        symptom.kind == NEVER_FIRED.name and "its matcher" in symptom.text
    )


def locate(report: CheckReport, problem: Problem) -> SarifLocation:
    """Return the settings line of a settings problem; else the hook's script, at the line that is known."""
    place, symptom = report.place, problem.symptom
    commands = [hook.command for hook in place.hooks if is_named(hook.command, symptom.hook)]
    for command in commands if not _is_of_settings(symptom) else ():
        for script, _ in place.sources:
            # A command may lead elsewhere, and not to the script of that name.
            named = script if symptom.kind == NOT_RUN.name else Path(script).name
            if named in command:
                at = re.search(rf"(?<![\w.-]){re.escape(script)}, line (\d+)", symptom.text)
                return SarifLocation((place.root / script).resolve(), int(at[1]) if at else 1)
    for file in place.files:
        if malformed := re.match(rf"{re.escape(file)}: [^\n]*\bline (\d+)", symptom.text):
            return SarifLocation(place.root / file, int(malformed[1]))
    for file in place.files:
        path = place.root / file
        written = [json.dumps(command)[1:-1] for command in commands]
        lines = path.read_text("utf-8", "replace").splitlines() if path.is_file() else []
        for number, line in enumerate(lines, 1):
            if any(command and command in line for command in written):
                return SarifLocation(path, number)
    return SarifLocation(place.root / place.files[0] if place.files else place.root)
