"""Refusals that end with a status which their host takes for a failure of the hook."""

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
_REFUSE = (
    "If it is meant to refuse, exit with 2 and print the reason to standard error. Else catch the failure "
    "and exit with 0."
)


def is_lost_refusal(text: str) -> bool:
    """Return whether a finding says that a hook refused in words, with a status that means a failure."""
    found = _ENDED.search(text)
    return found is not None and REFUSING.search(found["words"]) is not None


def name_lost_refusal(symptom: Symptom) -> Symptom:
    """Return a failure with the advice that it may be meant as a refusal, and with the name of one."""
    if not _ENDED.search(symptom.text):
        return symptom
    if is_lost_refusal(symptom.text):
        symptom = replace(symptom, kind=MANGLED.name, code=MANGLED.code)
    return replace(symptom, advice=_REFUSE)
