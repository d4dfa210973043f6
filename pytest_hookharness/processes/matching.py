"""
This module is concerned with matching: which hooks a line of output concerns.

Middle floor. Pure. A hook that can spawn nothing more is not asked, so a noisy process costs little.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from pytest_hookharness.model.process_hooks import OnOutputMatch, ProcessHook
from pytest_hookharness.processes.state import Counted


def matching(hooks: Sequence[ProcessHook], counts: Sequence[Counted], text: str) -> Iterator[int]:
    """
    The places of the hooks whose pattern is found in a line.
    """
    for place, (hook, count) in enumerate(zip(hooks, counts, strict=True)):
        trigger = hook.trigger
        if isinstance(trigger, OnOutputMatch) and not count.fired and re.search(trigger.pattern, text):
            yield place
