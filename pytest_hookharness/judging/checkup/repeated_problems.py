"""
Problems that two hook sets of a project share, as both start the same scripts: its settings and its plugin.

The first one reports them; a second report of the same cause would only hide others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from pytest_hookharness.model.checkup import CheckReport, HookSet, Problem


def without_repeats(reports: Iterable[CheckReport]) -> Iterator[CheckReport]:
    """Yield the reports, without problems that an earlier one has of the same scripts, in the same words."""
    told: set[tuple[object, ...]] = set()
    for report in reports:
        keys = {problem.id: _key(report.place, problem) for problem in report.problems}
        kept = tuple(one for one in report.problems if keys[one.id] is None or keys[one.id] not in told)
        told |= {key for key in keys.values() if key is not None}
        yield replace(report, problems=kept)


def _key(hook_set: HookSet, problem: Problem) -> tuple[object, ...] | None:
    """Return what makes two problems the same; ``None`` if its scripts are not known."""
    symptom = problem.symptom
    named = [hook for hook in hook_set.hooks if hook.command in symptom.hook.split(", ")]
    scripts = {hook_set.root / path for hook in named for path, _ in hook_set.sources_of(hook)}
    known = bool(named) and all(hook_set.sources_of(hook) for hook in named)
    return (hook_set.host, symptom.kind, symptom.text, frozenset(scripts)) if known else None
