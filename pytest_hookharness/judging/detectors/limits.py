"""
This module is concerned with the limits of detectors, and with limits that nothing could ever reach.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 8


class Unreachable(ValueError):
    """
    A limit that no stream of actions can come to.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """
    When a detector speaks.

    Attributes:
        laps: How often a sequence must come, one time after the other.
        failures: How many actions in a row must fail with one error text.
        window: How many actions a loop may span.

    Raises:
        Unreachable: A number is too small to mean a loop, or does not fit into the window.
    """

    laps: int = 3
    failures: int = 3
    window: int = 24

    def __post_init__(self) -> None:
        for name, number in (("laps", self.laps), ("failures", self.failures)):
            if number < 2:
                raise Unreachable(
                    f"{name}: {number} is no repetition; allowed is 2 or more, and 3 is a good number"
                )
            if number > self.window:
                raise Unreachable(
                    f"{name}: {number} can never be reached, since the window holds {self.window} actions; "
                    f"give a window of at least {number}, or at most {self.window} {name}"
                )

    @property
    def longest(self) -> int:
        """
        The longest period whose laps fit into the window.
        """
        return min(LONGEST, self.window // self.laps)
