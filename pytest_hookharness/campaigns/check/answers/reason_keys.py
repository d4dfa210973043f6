"""The keys in which a host reads the reason of a refusal, in the advice about a refusal without one."""

from __future__ import annotations

from dataclasses import replace

from pytest_hookharness import hosts
from pytest_hookharness.judging.findings.finding_catalogue import SILENT_REFUSAL
from pytest_hookharness.model.checkup import CheckReport, Problem
from pytest_hookharness.model.protocol import Ruling


def with_reason_keys(report: CheckReport) -> CheckReport:
    """Return a report that names, for a refusal without a reason, where its host reads one."""
    told = (_told(report.place.host, problem) for problem in report.problems)
    return replace(report, problems=tuple(told))


def _told(host: str, problem: Problem) -> Problem:
    symptom = problem.symptom
    keys = reason_keys(host, symptom.text.split(" ", maxsplit=1)[0].rstrip(":"))
    if symptom.kind != SILENT_REFUSAL.name or not keys:
        return problem
    named = " or ".join(f"`{key}`" for key in keys)
    advice = f"{symptom.advice} In an answer, {host} reads it from {named}."
    return replace(problem, symptom=replace(symptom, advice=advice))


def reason_keys(host: str, event: str) -> tuple[str, ...]:
    """Return the keys from which a host reads the reason of a refusal at an event, the usual one first."""
    profile = hosts.find(host)
    if event not in profile.events:
        return ()
    role = profile.events[event].role
    paths = (
        one.reason
        for one in profile.answers(event).verdicts
        if one.command and Ruling.DENY in one.rulings.values() and (not one.roles or role in one.roles)
    )
    return tuple(dict.fromkeys(".".join(path) for path in paths if path))
