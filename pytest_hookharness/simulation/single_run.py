"""One run of a scenario, and what decides how it is compared with others."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.outcome import Outcome


@dataclass(frozen=True, slots=True)
class SingleRun:
    """
    What one run of a scenario gave.

    Attributes:
        time_may_matter: Whether the run could go otherwise with more time between its turns.
        used: Seconds of the budget that it used.
        unfinished: Whether the budget ended it, so that a difference from another run shows nothing.
        gap: Why a program did not see the clock that the kernel was to show it; empty if all did.
        shown: Whether a process may have been shown the clock that the kernel moved.
        tried: Whether copies of its states were played, in which nothing was seen to be chance.
    """

    outcome: Outcome
    time_may_matter: bool
    used: float
    unfinished: bool = False
    gap: str = ""
    shown: bool = True
    tried: bool = False
