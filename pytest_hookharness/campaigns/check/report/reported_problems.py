"""The problems in a report: each cause once, with all hooks that it concerns."""

from __future__ import annotations

from collections.abc import Iterable

from pytest_hookharness.campaigns.check.lone_programs.callers import with_callers
from pytest_hookharness.campaigns.check.static.mendable_hooks import as_found
from pytest_hookharness.judging.checkup.one_place import at_one_place
from pytest_hookharness.model.checkup import HookSet, Problem


def reported_problems(hook_set: HookSet, problems: Iterable[Problem]) -> list[Problem]:
    """Return the problems for a report, with the commands as the settings have them."""
    return as_found(hook_set, at_one_place(with_callers(hook_set, problems)))
