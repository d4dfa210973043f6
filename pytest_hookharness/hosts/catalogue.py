"""
This module is concerned with which hosts are known.

Middle floor: hosts. A profile is imported when it is asked for, since a run needs one or two of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import cache, partial
from importlib.metadata import EntryPoint, entry_points

from pytest_hookharness.hosts.profile import Profile


def _claude_code() -> Profile:
    from pytest_hookharness.hosts.claude_code import CLAUDE_CODE  # noqa: PLC0415 - not until it is asked for

    return CLAUDE_CODE


# By name and version; the newest version of a host comes first.
_KNOWN: Mapping[str, Callable[[], Profile]] = {
    "claude-code@2.1.329": _claude_code,
}


# Distributions that bring a profile name it here: `codex@1.2 = module:PROFILE`.
GROUP = "pytest_hookharness.hosts"


@cache
def _loaders() -> Mapping[str, Callable[[], Profile]]:
    brought = {point.name: partial(_brought, point) for point in entry_points(group=GROUP)}
    return {**_KNOWN, **{name: load for name, load in brought.items() if name not in _KNOWN}}


def _brought(point: EntryPoint) -> Profile:
    profile = point.load()
    if not isinstance(profile, Profile) or profile.id != point.name:
        seen = getattr(profile, "id", type(profile).__name__)
        raise UnknownHost(
            f"the entry point {point.name!r} of group {GROUP!r} gives {seen!r}; "
            f"it must name a Profile whose name and version are {point.name!r}: {point.value}"
        )
    return profile


class UnknownHost(ValueError):
    """
    A host, or a version of it, that there is no profile for.
    """


def names() -> tuple[str, ...]:
    """
    What hosts can be asked for by: each name for its newest version, and each name with a version.
    """
    bare = dict.fromkeys(name.partition("@")[0] for name in _loaders())
    return (*bare, *_loaders())


def known() -> tuple[Profile, ...]:
    """
    All profiles, the newest version of a host first.
    """
    return tuple(load() for load in _loaders().values())


def find(name: str) -> Profile:
    """
    The profile of a host, by ``name`` (its newest version) or ``name@version``.

    Raises:
        UnknownHost: There is no such profile.
    """
    for known_name, load in _loaders().items():
        if name in (known_name, known_name.partition("@")[0]):
            return load()
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownHost(f"there is no host {name!r}; known are {', '.join(_loaders())}{hint}")
