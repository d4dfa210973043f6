"""Generated hooks: from a seed, a hook and the truth about it."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from .mechanisms import FORMATS, LARGEST, NOISES, PLACES, SIGNED, WRAPS, Count, Log, Mechanism
from .wording import write_bash, write_python


@dataclass(frozen=True, slots=True)
class Generated:
    """
    A generated hook.

    Attributes:
        script: Its text, for bash or Python as its first line says.
        ends_after: The number of refusals before it allows the stop; nothing if it never does.
        mechanism: What it does, in words for a failed test.
    """

    script: str
    ends_after: int | None
    mechanism: str


def pick_limit(dice: random.Random) -> int:
    """A limit from 1 to the largest, with as many small ones as large ones."""
    return max(1, round(math.exp(dice.uniform(0, math.log(LARGEST)))))


def pick_count(dice: random.Random) -> Count:
    """A counter: upwards, downwards, wrapped or with a limit that moves."""
    kind = dice.choice(("up", "up", "up", "down", "wrap", "rearm"))
    limit, step = pick_limit(dice), dice.choice((1, 1, 1, 2, 3, 5))
    wrap = dice.choice(WRAPS) if kind == "wrap" else None
    if wrap:
        limit = dice.randint(1, wrap + 2)
    down = kind == "down"
    return Count(
        start=limit if down else dice.choice((0, 0, 0, 1)),
        step=-step if down else step,
        limit=0 if down else min(limit, 40) if kind == "rearm" else limit,
        exact=dice.random() < 0.4,
        early=dice.random() < 0.5,
        wrap=wrap,
        rearm=dice.randint(1, 6) if kind == "rearm" else None,
        format=dice.choice(SIGNED if down else FORMATS),
        place=dice.choice(PLACES),
    )


def pick_mechanism(dice: random.Random) -> Mechanism:
    """Return random mechanisms."""
    count = pick_count(dice) if dice.random() < 0.75 else None
    log = None
    if dice.random() < 0.5:
        limit = pick_limit(dice) if dice.random() < 0.6 else None
        log = Log(lines=dice.choice((1, 1, 2, 3)), limit=limit, place=dice.choice(PLACES))
    noises = tuple(dice.sample(NOISES, dice.randint(0, 2)))
    return Mechanism(
        count=count,
        log=log,
        joined=dice.choice(("and", "or")),
        noises=noises,
        echoed=dice.choice(("", "", *(noise for noise in noises if noise != "turns"))),
        reply=dice.choice(("code", "json")),
    )


def pick(dice: random.Random) -> tuple[str, Mechanism]:
    """Return a language and a mechanism; half of them never allow the stop, and none allows it at once."""
    language = "bash" if dice.random() < 0.8 else "python"
    endless = dice.random() < 0.5
    while True:
        mechanism = pick_mechanism(dice)
        ends_after = mechanism.ends_after()
        if ends_after != 0 and (ends_after is None) == endless:
            return language, mechanism


def generate(seed: int) -> Generated:
    """The hook of a seed; the same seed gives the same hook."""
    language, mechanism = pick(random.Random(seed))  # noqa: S311  # dice, not secrets
    write = write_bash if language == "bash" else write_python
    return Generated(
        script=write(mechanism), ends_after=mechanism.ends_after(), mechanism=f"{language}: {mechanism}"
    )
