"""Events that a host does not know, as one problem where a hook set has many of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from pytest_hookharness.judging.findings.finding_catalogue import EVENT_UNKNOWN
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.expectations import counted, first_few

# A few of them have few words in common, as typing errors have.
_FEW = 2
_UNKNOWN = re.compile(
    r"(?P<files>.+), \S+: (?P<host>\S+) has no event '(?P<event>[^']+)' and (?P<effect>[^;.]+)"
    r"(?:; did you mean '(?P<meant>[^']+)')?"
)


def without_many(symptoms: Iterable[Symptom]) -> Iterator[Symptom]:
    """Yield the symptoms of settings, with one for all unknown events if there are more than two."""
    left, found = list[Symptom](), list[tuple[Symptom, re.Match[str]]]()
    for symptom in symptoms:
        flaw = _UNKNOWN.match(symptom.text) if symptom.kind == EVENT_UNKNOWN.name else None
        if flaw:
            found.append((symptom, flaw))
        else:
            left.append(symptom)
    yield from [_joined(found)] if len(found) > _FEW else (symptom for symptom, _ in found)
    yield from left


def _joined(found: Sequence[tuple[Symptom, re.Match[str]]]) -> Symptom:
    flaws = [flaw for _, flaw in found]
    files = [*dict.fromkeys(file for flaw in flaws for file in flaw["files"].split(", "))]
    events = [repr(event) for event in dict.fromkeys(flaw["event"] for flaw in flaws)]
    meant = [f"{flaw['meant']!r} for {flaw['event']!r}" for flaw in flaws if flaw["meant"]]
    place = files[0] if len(files) == 1 else f"{counted(len(files), 'file')} ({first_few(files)})"
    hint = f"; it has {first_few([*dict.fromkeys(meant)])}" if meant else ""
    symptom, first = found[0]
    text = f"{place}: {first['host']} has no events {first_few(events, 12)}, and {first['effect']}{hint}."
    return replace(symptom, text=text)
