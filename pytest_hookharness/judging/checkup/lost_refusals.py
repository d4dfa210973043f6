"""Refusals and advice that are lost because the hook ends with a status that its host takes for a failure."""

from __future__ import annotations

import re
from dataclasses import replace

from pytest_hookharness.judging.checkup.unseen_texts import is_advice
from pytest_hookharness.judging.findings.codes import UNSEEN_REASON
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
    r"|assertion violation|: line \d+:",
    re.IGNORECASE,
)
_REFUSE = (
    "If the hook means to refuse, print the reason to standard error and exit with 2. If it failed, "
    "catch the failure and exit with 0."
)
_ADVISE = (
    "The agent does not get this text. To advise it and allow the call, exit with 0 and answer in JSON with "
    "`additionalContext`; to refuse, exit with 2."
)


def ends_as_failure(text: str) -> bool:
    """Return whether the text of a finding quotes what a hook said that ended with a status of failure."""
    return _ENDED.search(text) is not None


def is_lost_refusal(text: str) -> bool:
    """Return whether the text of a finding quotes a refusal that ended with the status of a failure."""
    return bool(REFUSING.search(_own_words(text)))


def _own_words(text: str) -> str:
    """Return the words of a hook that ended with a status of failure; empty for those of a program."""
    found = _ENDED.search(text)
    return found["words"] if found and not _OF_PROGRAM.search(found["words"]) else ""


def name_lost_refusal(symptom: Symptom) -> Symptom:
    """
    Add advice to a failure that may be a refusal.

    It is reported as MANGLED if its words say that it is one, and as UNSEEN-REASON if they are advice.
    """
    if is_lost_refusal(symptom.text):
        return replace(symptom, kind=MANGLED.name, code=MANGLED.code, advice=_REFUSE)
    if is_advice(_own_words(symptom.text)):
        return replace(symptom, kind=UNSEEN_REASON.name, code=UNSEEN_REASON.code, advice=_ADVISE)
    return replace(symptom, advice=_REFUSE) if ends_as_failure(symptom.text) else symptom
