"""Refusals that are lost because the hook ends with a status that its host takes for a failure."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_hookharness.judging.findings.finding_catalogue import MANGLED
from pytest_hookharness.model.checkup import Symptom

# Words of a text that means to refuse a call or a stop.
REFUSING: re.Pattern[str] = re.compile(
    r"\bblock(?:ed|ing)\b|(?<!permission )(?<!access )\bden(?:ied|ying)\b|\bnot (?:allowed|permitted)\b"
    r"|\bforbidden\b|\bprohibited\b"
    r"|\brefus(?:ed|ing)\b|\brejected\b|\bviolation\b|\bbefore (?:stopping|you stop|finishing|committing)\b",
    re.IGNORECASE,
)
# A failure that may be meant as a refusal, and what the hook said.
_ENDED = re.compile(r'exit code \d+ is not a refusal on [^:]*: "(?P<words>.*)"', re.DOTALL)
# Words of programs and interpreters about a failure.
_OF_PROGRAM = re.compile(
    r"\b\w*(?:Error|Exception)\b|(?-i:\bE[A-Z]{3,}\b)|connection refused|unhandled|not permitted|failed to"
    r"|assertion violation",
    re.IGNORECASE,
)
_REFUSE = (
    "If the hook means to refuse, print the reason to standard error and exit with 2. If it failed, "
    "catch the failure and exit with 0."
)


def is_lost_refusal(text: str) -> bool:
    """Return whether the text of a finding quotes a refusal that ended with the status of a failure."""
    found = _ENDED.search(text)
    words = found["words"] if found else ""
    return bool(REFUSING.search(words)) and not _OF_PROGRAM.search(words)


def name_lost_refusal(symptom: Symptom) -> Symptom:
    """Add advice to a failure that may be a refusal, and report it as MANGLED if its words say that it is."""
    if is_lost_refusal(symptom.text):
        return replace(symptom, kind=MANGLED.name, code=MANGLED.code, advice=_REFUSE)
    return replace(symptom, advice=_REFUSE) if _ENDED.search(symptom.text) else symptom
