"""
This module is concerned with options that a host is started with: those that it takes and ignores.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Iterable

from pytest_hookharness.hosts.entries import Problem
from pytest_hookharness.hosts.profile import Profile


def find_ignored(profile: Profile, names: Iterable[str]) -> tuple[Problem, ...]:
    """
    The options of those given that the host takes and does nothing with.
    """
    known = ((name, profile.options[name]) for name in names if name in profile.options)
    return tuple(
        Problem(
            "ignored-option",
            "options",
            name,
            f"{profile.id} takes this option and ignores it: {rule.ignored}",
            rule.rule,
        )
        for name, rule in known
        if rule.ignored
    )
