"""
This module is concerned with which hosts are known.

Middle floor: hosts. A profile is imported when it is asked for, since a run needs one or two of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping

from pytest_hookharness.hosts.profile import Profile


def _claude_code() -> Profile:
    from pytest_hookharness.hosts.claude_code import CLAUDE_CODE  # noqa: PLC0415 - not until it is asked for

    return CLAUDE_CODE


# By name and version; the newest version of a host comes first.
_KNOWN: Mapping[str, Callable[[], Profile]] = {
    "claude-code@2.1.329": _claude_code,
}


class UnknownHost(ValueError):
    """
    A host, or a version of it, that there is no profile for.
    """


def names() -> tuple[str, ...]:
    """
    What hosts can be asked for by: each name for its newest version, and each name with a version.
    """
    bare = dict.fromkeys(name.partition("@")[0] for name in _KNOWN)
    return (*bare, *_KNOWN)


def known() -> tuple[Profile, ...]:
    """
    All profiles, the newest version of a host first.
    """
    return tuple(load() for load in _KNOWN.values())


def find(name: str) -> Profile:
    """
    The profile of a host, by ``name`` (its newest version) or ``name@version``.

    Raises:
        UnknownHost: There is no such profile.
    """
    for known_name, load in _KNOWN.items():
        if name in (known_name, known_name.partition("@")[0]):
            return load()
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownHost(f"there is no host {name!r}; known are {', '.join(_KNOWN)}{hint}")
