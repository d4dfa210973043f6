"""
What hooks keep and compare, as values, and when such a hook allows the stop.

The answer is arithmetic on the values; no hook is run for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

LARGEST = 2500
WRAPS = (2, 3, 5, 7, 10, 24, 60)
# All limits are at most LARGEST and everything that moves moves by one at least: what happens at all
# happens before this, wrapping counters included.
HORIZON = LARGEST + 2 * max(WRAPS)

PLACES = ("project", "home", "tmp")
FORMATS = ("plain", "padded", "hex", "dots", "key_value", "json", "front_matter", "name")
SIGNED = ("plain", "key_value", "json", "front_matter", "name")
NOISES = ("second", "millisecond", "iso", "uuid", "pid", "turns")


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """
    A counter and the limit that it is compared with.

    Attributes:
        start: Its value when nothing is kept yet.
        step: What a stop adds; less than nothing for a countdown.
        limit: What it is compared with at first.
        exact: Whether it must be equal, not only be there or beyond.
        early: Whether it moves before it is compared.
        wrap: It is taken modulo this; nothing if it is not.
        rearm: With each refusal the limit becomes the counter plus this; nothing if it stays.
        format: How it is kept.
        place: Where it is kept.
    """

    start: int
    step: int
    limit: int
    exact: bool
    early: bool
    wrap: int | None
    rearm: int | None
    format: str
    place: str

    def moved(self, value: int) -> int:
        """The value after another stop."""
        return (value + self.step) % self.wrap if self.wrap else value + self.step

    def holds(self, value: int, limit: int) -> bool:
        """Whether the limit is reached."""
        if self.exact:
            return value == limit
        return value >= limit if self.step > 0 else value <= limit


@dataclass(frozen=True, slots=True, kw_only=True)
class Log:
    """
    A log that grows with each refusal.

    Attributes:
        lines: How many lines a refusal adds.
        limit: How many lines are enough; nothing if they are not counted.
        place: Where it is kept.
    """

    lines: int
    limit: int | None
    place: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mechanism:
    """
    All that a hook does.

    Attributes:
        count: Its counter, if it has one.
        log: Its log, if it has one.
        joined: Whether both limits must be reached, or either.
        noises: What it writes and never reads.
        echoed: A noise that is part of the reason too; empty for none.
        reply: How it refuses: with exit code 2, or in JSON.
    """

    count: Count | None
    log: Log | None
    joined: Literal["and", "or"]
    noises: tuple[str, ...]
    echoed: str
    reply: Literal["code", "json"]

    def allows_stop(self, value: int, limit: int, lines: int) -> bool:
        """Whether the hook allows the stop in a state."""
        parts = [self.count.holds(value, limit)] if self.count else []
        if self.log and self.log.limit is not None:
            parts.append(lines >= self.log.limit)
        return bool(parts) and (all(parts) if self.joined == "and" else any(parts))

    def ends_after(self) -> int | None:
        """Return the number of refusals before the hook allows the stop; nothing if it never does."""
        count = self.count
        value, limit, lines = (count.start, count.limit, 0) if count else (0, 0, 0)
        for refusals in range(HORIZON):
            if count and count.early:
                value = count.moved(value)
            if self.allows_stop(value, limit, lines):
                return refusals
            if count and not count.early:
                value = count.moved(value)
            if count and count.rearm is not None:
                limit = value + count.rearm
            lines += self.log.lines if self.log else 0
        return None

    def __str__(self) -> str:
        parts = [str(part) for part in (self.count, self.log) if part]
        echoed = f", prints {self.echoed}" if self.echoed else ""
        return f"{f' {self.joined} '.join(parts) or 'nothing'}; writes {self.noises}{echoed}; by {self.reply}"
