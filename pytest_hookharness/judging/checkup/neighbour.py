"""A harmless command that a guard may refuse, because it resembles what it is meant to refuse."""

from __future__ import annotations

import re
from collections.abc import Iterable

from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Neighbour:
    """
    A harmless command.

    Attributes:
        text: The command line; ``READING`` or ``WRITING`` and a file for a call of a tool for files.
        detail: What it is, in words that follow it and a comma.
        controls: Commands that differ from it in one detail; none if nobody has a reason to refuse it.
        beside: A pattern of the commands that it resembles; empty for one that resembles many.
        named: A pattern of what a guard has that is meant to refuse it; empty for none.
        made: Whether only a refused command beside it shows anything.
        where: Where the controls are allowed, in words behind them; empty for the same place.
    """

    text: str
    detail: str
    controls: tuple[str, ...] = ()
    beside: str = ""
    named: str = ""
    made: bool = False
    where: str = ""

    def belongs_to(self, refused: Iterable[str]) -> bool:
        """Return whether it may be refused because it resembles one of some refused commands."""
        return any(re.match(self.beside, text) for text in refused)

    @property
    def needs_refusal(self) -> bool:
        """Whether only a refused command beside it shows anything."""
        return self.made or not self.controls
