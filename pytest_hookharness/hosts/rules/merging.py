"""
This module is concerned with the rules by which several replies become one decision.

Middle floor: hosts.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass


class Precedence(enum.Enum):
    """
    Whose ruling holds.
    """

    STRONGEST = "deny goes before defer, defer before ask, ask before allow"
    LAST_SAID = "the last reply that has a ruling"
    FIRST_REFUSAL = "the first refusal; the hooks after it are not asked, where they run one by one"


class Words(enum.Enum):
    """
    Which of several reasons are told.
    """

    EACH = "each"
    FIRST = "the first"
    LAST = "the last"
    JOINED = "all, joined by line ends"


@dataclass(frozen=True, slots=True, kw_only=True)
class Merging:
    """
    How the replies to one event are merged.

    Attributes:
        as_ended: Whether replies come in the order in which the hooks ended; otherwise in that of
            configuration.
        precedence: Whose ruling holds.
        words: Which reasons are told.
        context_wins: Whether a text for the model stands in for the reasons.
        context_undoes: Whether such a text undoes a refusal.
        several: Name of the rule behind a decision that several refusals made.
    """

    as_ended: bool = False
    precedence: Precedence = Precedence.STRONGEST
    words: Words = Words.EACH
    context_wins: bool = False
    context_undoes: bool = False
    several: str = "several"
