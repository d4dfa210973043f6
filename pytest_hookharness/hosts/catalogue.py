"""
This module is concerned with which hosts are known.

Middle floor: hosts.
"""

from __future__ import annotations

import difflib

from pytest_hookharness.hosts.claude_code import CLAUDE_CODE
from pytest_hookharness.hosts.profile import Profile

_KNOWN = (CLAUDE_CODE,)


class UnknownHost(ValueError):
    """
    A host, or a version of it, that there is no profile for.
    """


def known() -> tuple[Profile, ...]:
    """
    All profiles, the newest version of a host first.
    """
    return _KNOWN


def find(name: str) -> Profile:
    """
    The profile of a host, by ``name`` (its newest version) or ``name@version``.

    Raises:
        UnknownHost: There is no such profile.
    """
    bare, _, version = name.partition("@")
    for profile in _KNOWN:
        if profile.name == bare and version in ("", profile.version):
            return profile
    ids = [profile.id for profile in _KNOWN]
    near = difflib.get_close_matches(name, [*ids, *(profile.name for profile in _KNOWN)], n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise UnknownHost(f"there is no host {name!r}; known are {', '.join(ids)}{hint}")
