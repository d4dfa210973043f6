"""
The hooks of the blind test: from a seed, hooks and the truth about them.

They were written without looking at how limits are found, and before any of them was judged. What is
learnt from them changes the judge, never a hook or a truth.
"""

from __future__ import annotations

import os
import random
import shutil
from dataclasses import replace
from datetime import UTC, datetime
from itertools import zip_longest

from .languages import LANGUAGES
from .limits import LIMITS
from .never_ending import NEVER_ENDING
from .shell_counters import SHELL_COUNTERS
from .subject import Mechanism, Subject
from .world import WORLD

HOOKS = 300
PER_NIGHT = 60
# Seeds that showed a defect of the judge, which was fixed: these are no longer blind.
KNOWN = (43, 99, 152, 208, 261)

# One of each family in turn, so that each night has some of all.
_FAMILIES = zip_longest(SHELL_COUNTERS, LIMITS, LANGUAGES, NEVER_ENDING, WORLD)
MECHANISMS: tuple[Mechanism, ...] = tuple(one for row in _FAMILIES for one in row if one is not None)


def generate(seed: int) -> Subject:
    """Return the hooks of a seed."""
    mechanism = MECHANISMS[seed % len(MECHANISMS)]
    made = mechanism(random.Random(seed))  # noqa: S311
    said = (mechanism.__doc__ or "").strip().partition("\n")[0]
    return replace(made, mechanism=f"{mechanism.__name__}: {said}")


def night() -> int:
    """Return the day, or what HOOKHARNESS_BLIND_NIGHT says."""
    return int(os.environ.get("HOOKHARNESS_BLIND_NIGHT") or datetime.now(UTC).toordinal())


def of_the_night(day: int) -> range:
    """Return the seeds of a day: five nights in a row have all hooks."""
    first = day * PER_NIGHT % HOOKS
    return range(first, first + PER_NIGHT)


def missing_programs(subject: Subject) -> list[str]:
    """Return the programs that a hook needs and this machine does not have."""
    return [name for name in subject.needs if shutil.which(name) is None]
