"""
SARIF 2.1.0: broken expectations and findings for viewers of static analysis results.

The format is the OASIS standard; how GitHub shows it is documented under "SARIF support for code scanning". A
defect that a scenario expects is no result.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from pytest_hookharness.model.bad_ends import BAD_ENDS, UNDECIDED
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Finding, FindingCode, Violation
from pytest_hookharness.reports.model_texts import shorten
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.advice import advice
from pytest_hookharness.reports.terminal.verdict_text import first_line

Json: TypeAlias = dict[str, Any]

_LONGEST = 1000
_EXPECTATION = FindingCode(
    "expectation",
    "EXPECTATION",
    "An expectation of a scenario was not met.",
    "The author of the scenario relies on it.",
    "Fix the hook, or correct the expectation; the test's report shows what was seen.",
)
# An unexpected verdict is a defect of its own, except `terminated`.
VERDICTS: Mapping[str, FindingCode] = {
    end.name: replace(end, code=end.name, name=end.name.upper()) for end in (*BAD_ENDS, UNDECIDED)
}


@dataclass(frozen=True, slots=True)
class SarifLocation:
    """A line, from 1, of a file with an absolute path."""

    file: Path
    line: int = 1


@dataclass(frozen=True, slots=True)
class SarifRunInfo:
    """
    The facts about a run that the outcome does not contain.

    ``place`` is the test itself, where results are that have no better location; file names are relative to
    ``root``; ``script`` returns where the script of a command is, if it is in the repository.
    """

    item: str
    place: SarifLocation
    root: Path
    script: Callable[[str], SarifLocation | None]


def results(outcome: Outcome, info: SarifRunInfo) -> list[Json]:
    """Return the SARIF results of one outcome."""
    expect, mark = outcome.scenario.expect, outcome.scenario.mark
    found = [
        _of_violation(outcome, violation, info)
        for violation in outcome.violations
        if violation.path != mark("expect.findings")
    ]
    return found + [
        _of_finding(outcome, finding, info)
        for finding in outcome.findings
        if not expect.allows(finding.code, finding.name)
    ]


def of_test(message: str, info: SarifRunInfo) -> Json:
    """Return the result for a failed assertion of a Python test."""
    return result(_EXPECTATION, "error", f"the test failed: {message}", [info.place], info, "test")


def _of_violation(outcome: Outcome, violation: Violation, info: SarifRunInfo) -> Json:
    mark = outcome.scenario.mark
    kind = _EXPECTATION
    text = shorten(f"expected {violation.expected}, seen {violation.seen}", outcome.folders)
    if violation.path in (mark("expect.verdict"), mark("expect.within")):
        kind = VERDICTS.get(outcome.verdict_name, _EXPECTATION)
        text = f"{first_line(outcome)}. {advice(outcome)}"
    refusing = _refusing(outcome)
    script = info.script(refusing) if refusing and kind is not _EXPECTATION else None
    places = [_written(outcome, violation.path, info), *([script] if script is not None else [])]
    return result(kind, "error", text, places, info, violation.path)


def _refusing(outcome: Outcome) -> str:
    """Return the command that refused last; empty if none did."""
    refusals = [hooked for _, hooked in outcome.trace.hooked() if hooked.decision.refused]
    return next((run.hook.command for run in refusals[-1].deciding), "") if refusals else ""


def _of_finding(outcome: Outcome, finding: Finding, info: SarifRunInfo) -> Json:
    kind = FindingCode(finding.code, finding.name, "", "", finding.advice)
    script = info.script(finding.hook) if finding.hook else None
    places = [place for place in (script, _written(outcome, "expect", info)) if place is not None]
    # A command may contain the path of a temporary folder.
    concerned = _uri(script.file, info.root)["uri"] if script is not None else finding.hook
    text = shorten(f"{finding.name}: {finding.text} {finding.advice}", outcome.folders)
    return result(kind, "warning", text, places, info, concerned)


def _written(outcome: Outcome, path: str, info: SarifRunInfo) -> SarifLocation:
    origin = outcome.scenario.origin
    return info.place if origin is None else SarifLocation(info.place.file, origin.line(path))


def result(
    kind: FindingCode,
    level: str,
    text: str,
    places: Sequence[SarifLocation],
    info: SarifRunInfo,
    concerned: str,
) -> Json:
    """Return one result: a kind of problem at some places; ``concerned`` is part of its fingerprint."""
    first, *others = [_location(place, info.root) for place in places]
    key = f"{kind.code}\0{info.item}\0{concerned}"
    related = {"relatedLocations": [{"id": number, **each} for number, each in enumerate(others, 1)]}
    return {
        "ruleId": kind.code,
        "level": level,
        "message": {"text": _unlinked(plain(text, _LONGEST))},
        "locations": [first],
        **(related if others else {}),
        "partialFingerprints": {"primaryLocationLineHash": hashlib.sha256(key.encode()).hexdigest()[:32]},
    }


def _unlinked(text: str) -> str:
    # In a message `[words](address)` is a link; text of a hook must not become one.
    return text.replace("](", "] (")


def _location(place: SarifLocation, root: Path) -> Json:
    region = {"startLine": max(1, place.line)}
    return {"physicalLocation": {"artifactLocation": _uri(place.file, root), "region": region}}


def _uri(file: Path, root: Path) -> dict[str, str]:
    if not file.is_relative_to(root):
        return {"uri": file.as_uri()}
    return {"uri": quote(file.relative_to(root).as_posix()), "uriBaseId": "%SRCROOT%"}


def rules(codes: Iterable[FindingCode]) -> list[Json]:
    """Return all kinds of results: findings, verdicts and other expectations."""
    verdicts = [_rule(code, "error") for code in (*VERDICTS.values(), _EXPECTATION)]
    return [*(_rule(code, "warning") for code in codes), *verdicts]


def _rule(code: FindingCode, level: str) -> Json:
    return {
        "id": code.code,
        "name": "".join(word.capitalize() for word in code.name.split("-")),
        "shortDescription": {"text": code.what},
        "fullDescription": {"text": f"{code.what} {code.why}"},
        "help": {"text": f"{code.why} {code.fix}"},
        "defaultConfiguration": {"level": level},
    }


def log(
    found: Iterable[Json], codes: Iterable[FindingCode], *, version: str, status: int, trouble: Sequence[str]
) -> Json:
    """Return a whole run as one SARIF log; ``trouble`` is what could not be read or played."""
    described = rules(codes)
    index = {rule["id"]: place for place, rule in enumerate(described)}
    driver = {"name": "pytest-hookharness", "semanticVersion": version, "rules": described}
    run = {
        "tool": {"driver": driver},
        "invocations": [_invocation(status, trouble)],
        "columnKind": "unicodeCodePoints",
        "results": [{**each, "ruleIndex": index[each["ruleId"]]} for each in _numbered(found)],
    }
    return {"$schema": "https://json.schemastore.org/sarif-2.1.0.json", "version": "2.1.0", "runs": [run]}


def _invocation(status: int, trouble: Sequence[str]) -> Json:
    return {
        "executionSuccessful": status in (0, 1) and not trouble,
        "exitCode": status,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": _unlinked(plain(each, _LONGEST))}} for each in trouble
        ],
    }


def _numbered(found: Iterable[Json]) -> Iterator[Json]:
    """Yield the results with unique fingerprints, since viewers keep one result of each."""
    seen: Counter[str] = Counter()
    for each in found:
        ((name, digest),) = each["partialFingerprints"].items()
        seen[digest] += 1
        yield {**each, "partialFingerprints": {name: f"{digest}:{seen[digest]}"}}
