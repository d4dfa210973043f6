"""
This module is concerned with codes: one kind of defect, in words.

Ground floor: values only. Which codes there are is the judges' business.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_hookharness.model.protocol import Rule
from pytest_hookharness.model.verdicts import Finding


@dataclass(frozen=True, slots=True)
class Code:
    """
    One kind of defect.

    Attributes:
        code: ``HH`` and three digits; empty for a bad end, which is known by its name.
        name: The short name, in capitals.
        what: What was seen, in general.
        why: Why that matters.
        mend: What to do about it.
    """

    code: str
    name: str
    what: str
    why: str
    mend: str

    def found(self, text: str, *, turn: int = 0, hook: str = "", rule: Rule | None = None) -> Finding:
        """
        A finding of this kind: what was seen, in which turn, of which command, and by which rule of the host.
        """
        return Finding(
            code=self.code, name=self.name, text=text, advice=self.mend, turn=turn, hook=hook, rule=rule
        )
