"""
This module is concerned with limits: what a number in the settings means in seconds.

Middle floor: hosts.
"""

from __future__ import annotations

from dataclasses import dataclass

from pytest_hookharness.hosts.rules.configuring import Flaw, LimitRules
from pytest_hookharness.model.protocol import Json


@dataclass(frozen=True, slots=True)
class Limit:
    """
    A limit as it is understood.

    Attributes:
        seconds: How many; ``None`` for the host's own, or if nothing can be made of it.
        flaw: What is odd about it.
        text: That in words.
    """

    seconds: float | None = None
    flaw: Flaw | None = None
    text: str = ""


def read_limit(rules: LimitRules, written: Json) -> Limit:
    """
    What a limit means, as far as the host makes something of it at all.
    """
    if written is None:
        return Limit()
    unit = "seconds" if rules.unit == 1.0 else "milliseconds"
    text = f"is {written!r}; it must be a number of {unit} above 0"
    if isinstance(written, bool) or not isinstance(written, int | float):
        number = _number(written)
        return Limit(None if number is None else _seconds(rules, number), Flaw.LIMIT_TEXT, text)
    seconds = _seconds(rules, float(written))
    if written == 0:
        return Limit(seconds, Flaw.LIMIT_ZERO, text)
    if written < 0:
        return Limit(seconds, Flaw.LIMIT_NEGATIVE, text)
    if written != written // 1:
        return Limit(seconds, Flaw.LIMIT_FRACTION, f"is {written!r}; it must be a whole number of {unit}")
    return Limit(seconds)


def _number(written: Json) -> float | None:
    try:
        return float(str(written))
    except ValueError:
        return None


def _seconds(rules: LimitRules, number: float) -> float:
    counts_milliseconds = rules.milliseconds_from is not None and number >= rules.milliseconds_from
    seconds = number / 1000 if counts_milliseconds else number * rules.unit
    return max(seconds, rules.least, 0.0)
