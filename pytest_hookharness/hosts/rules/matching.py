"""
This module is concerned with the rules of matchers.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pytest_hookharness.model.protocol import Rule


@dataclass(frozen=True, slots=True, kw_only=True)
class MatcherRules:
    """
    How a matcher is compared with its target.

    Attributes:
        everything: Matchers that match all, beside none.
        trims: Whether white space around the whole matcher is dropped first.
        plain: A matcher made only of these characters (a regular expression for all of it) is a
            list of exact names; any other is a regular expression. ``None`` if there are no lists.
        separators: What separates the names of such a list; empty if it is always one name.
        trims_names: Whether white space around each name is dropped.
        lists_only: Whether a list that holds no such name is done with; otherwise it is read as a
            regular expression too.
        wrapper: What a regular expression may stand between; empty for nothing.
        anchored: Whether a regular expression must match the whole target.
        literal_if_malformed: Whether a malformed regular expression is compared as it is written;
            otherwise it matches nothing.
        aliases: Other names that matchers may use for a target.
        searches_aliases: Whether a regular expression is compared with those names too, and one is enough.
        untargeted: Whether a hook with a matcher fires on an event that has no target.
        condition: The key of a handler's own condition, a permission rule; empty for none.
        rule: Where this is known from.
    """

    everything: tuple[str, ...] = ("", "*")
    trims: bool = False
    plain: str | None = None
    separators: str = r"\|"
    trims_names: bool = False
    lists_only: bool = True
    wrapper: str = ""
    anchored: bool = False
    literal_if_malformed: bool = False
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    searches_aliases: bool = False
    untargeted: bool = True
    condition: str = ""
    rule: Rule
