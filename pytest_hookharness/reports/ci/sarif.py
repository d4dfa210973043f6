"""
SARIF 2.1.0: broken promises and findings for viewers of static analysis.

The format is that of the OASIS standard; what GitHub makes of it is documented
under "SARIF support for code scanning". What a scenario promises is no result, also if it promises a defect.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias
from urllib.parse import quote

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.verdicts import Finding, FindingCode, Violation
from pytest_hookharness.reports.safe_text import plain
from pytest_hookharness.reports.terminal.advice import advice
from pytest_hookharness.reports.terminal.headline import first_line

Json: TypeAlias = dict[str, Any]

_LONGEST = 1000
_PROMISE = FindingCode(
    "promise",
    "PROMISE",
    "A promise of a scenario was not kept.",
    "What its author relies on is not so.",
    "Mend the hook, or promise what is right; the story in the test's report shows what was seen.",
)
_ENDLESS = FindingCode(
    "livelock",
    "LIVELOCK",
    "The same state came again: hooks and agent go on for ever.",
    "An agent that nobody watches spends its time and money on it.",
    "Let the hook allow when nothing changed since its last refusal.",
)
# A verdict that nobody promised is a kind of defect of its own; that it terminated is none.
VERDICTS: Mapping[str, FindingCode] = {
    "livelock": _ENDLESS,
    "capped": FindingCode(
        "capped",
        "CAPPED",
        "The host's guard ended the loop, and not the hook.",
        "Other hosts have no such guard, and the agent was kept from its end until then.",
        _ENDLESS.fix,
    ),
    "hung": FindingCode(
        "hung",
        "HUNG",
        "The host waits for ever because of a hook.",
        "The agent stands still until somebody ends it.",
        "Let the hook wait neither for a person nor for what may never come.",
    ),
    "recursing": FindingCode(
        "recursing",
        "RECURSING",
        "Hooks caused hooks, beyond the limit of depth or number.",
        "Each session starts more of them, until the machine is full.",
        "Let the hook see that it caused itself, for example by a variable that it sets and reads.",
    ),
    "lockout": FindingCode(
        "lockout",
        "LOCKOUT",
        "No move that the agent has leads to a stop.",
        "Whatever the agent does is refused.",
        "Let at least one move through that mends what the hooks complain about, and name it.",
    ),
    "undecided": FindingCode(
        "undecided",
        "UNDECIDED",
        "It is not known whether this ends.",
        "What is not known is no pass.",
        "See in the story what ended the search, and give it more turns or time.",
    ),
}


@dataclass(frozen=True, slots=True)
class SarifLocation:
    """
    A line of a file.

    Attributes:
        file: The file, absolute.
        line: From 1.
    """

    file: Path
    line: int = 1


@dataclass(frozen=True, slots=True)
class SarifRunInfo:
    """
    What no outcome knows of where it was made.

    Attributes:
        item: The node id of the test.
        place: The test itself; what has no better place is told there.
        root: The folder that files are named relative to.
        script: Tells where the script of a command lies, if it has one in the repository.
    """

    item: str
    place: SarifLocation
    root: Path
    script: Callable[[str], SarifLocation | None]


def results(outcome: Outcome, around: SarifRunInfo) -> list[Json]:
    """
    What is wrong about one outcome.
    """
    expect, mark = outcome.scenario.expect, outcome.scenario.mark
    found = [
        _of_violation(outcome, violation, around)
        for violation in outcome.violations
        if violation.path != mark("expect.findings")
    ]
    return [
        *found,
        *(
            _of_finding(outcome, finding, around)
            for finding in outcome.findings
            if not expect.allows(finding.code, finding.name)
        ),
    ]


def of_test(said: str, around: SarifRunInfo) -> Json:
    """
    What only a test in Python knows to be wrong.
    """
    return _result(_PROMISE, "error", f"the test failed: {said}", [around.place], around, "test")


def _of_violation(outcome: Outcome, violation: Violation, around: SarifRunInfo) -> Json:
    mark = outcome.scenario.mark
    kind = _PROMISE
    text = f"expected {violation.expected}, seen {violation.seen}"
    if violation.path in (mark("expect.verdict"), mark("expect.within")):
        kind = VERDICTS.get(outcome.verdict_name, _PROMISE)
        text = f"{first_line(outcome)}. {advice(outcome)}"
    refusing = _refusing(outcome)
    script = around.script(refusing) if refusing and kind is not _PROMISE else None
    places = [_written(outcome, violation.path, around), *([script] if script is not None else [])]
    return _result(kind, "error", text, places, around, violation.path)


def _refusing(outcome: Outcome) -> str:
    """
    The command that refused last, if one did.
    """
    refusals = [hooked for _, hooked in outcome.trace.hooked() if hooked.decision.refused]
    fires = refusals[-1].hook_runs if refusals else ()
    return next(
        (fire.hook.command for fire in fires if fire.reply.ruling is refusals[-1].decision.ruling), ""
    )


def _of_finding(outcome: Outcome, finding: Finding, around: SarifRunInfo) -> Json:
    kind = FindingCode(finding.code, finding.name, "", "", finding.advice)
    script = around.script(finding.hook) if finding.hook else None
    places = [place for place in (script, _written(outcome, "expect", around)) if place is not None]
    # A command may hold the path of a throw-away folder.
    concerned = _uri(script.file, around.root)["uri"] if script is not None else finding.hook
    text = f"{finding.name}: {finding.text} {finding.advice}"
    return _result(kind, "warning", text, places, around, concerned)


def _written(outcome: Outcome, path: str, around: SarifRunInfo) -> SarifLocation:
    origin = outcome.scenario.origin
    return around.place if origin is None else SarifLocation(around.place.file, origin.line(path))


def _result(
    kind: FindingCode,
    level: str,
    text: str,
    places: Sequence[SarifLocation],
    around: SarifRunInfo,
    concerned: str,
) -> Json:
    first, *others = [_location(place, around.root) for place in places]
    key = f"{kind.code}\0{around.item}\0{concerned}"
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
    # In a message `[words](address)` is a link, and what a hook says shall be none.
    return text.replace("](", "] (")


def _location(place: SarifLocation, root: Path) -> Json:
    return {
        "physicalLocation": {
            "artifactLocation": _uri(place.file, root),
            "region": {"startLine": max(1, place.line)},
        }
    }


def _uri(file: Path, root: Path) -> dict[str, str]:
    if not file.is_relative_to(root):
        return {"uri": file.as_uri()}
    return {"uri": quote(file.relative_to(root).as_posix()), "uriBaseId": "%SRCROOT%"}


def rules(codes: Iterable[FindingCode]) -> list[Json]:
    """
    All kinds of results: findings, verdicts, and promises of any other kind.
    """
    verdicts = [_rule(code, "error") for code in (*VERDICTS.values(), _PROMISE)]
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
    """
    A whole run as one SARIF log.

    Args:
        found: Its results.
        codes: The kinds of findings that there are.
        version: Of the harness.
        status: The exit status of pytest.
        trouble: What could not be read or played.
    """
    described = rules(codes)
    index = {rule["id"]: place for place, rule in enumerate(described)}
    invocation: Json = {
        "executionSuccessful": status in (0, 1) and not trouble,
        "exitCode": status,
        "toolExecutionNotifications": [
            {"level": "error", "message": {"text": _unlinked(plain(each, _LONGEST))}} for each in trouble
        ],
    }
    driver = {"name": "pytest-hookharness", "semanticVersion": version, "rules": described}
    run = {
        "tool": {"driver": driver},
        "invocations": [invocation],
        "columnKind": "unicodeCodePoints",
        "results": [{**each, "ruleIndex": index[each["ruleId"]]} for each in _numbered(found)],
    }
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }


def _numbered(found: Iterable[Json]) -> Iterator[Json]:
    """
    The results with fingerprints that differ where the results do, as viewers keep one of each.
    """
    seen: Counter[str] = Counter()
    for each in found:
        ((name, digest),) = each["partialFingerprints"].items()
        seen[digest] += 1
        yield {**each, "partialFingerprints": {name: f"{digest}:{seen[digest]}"}}
