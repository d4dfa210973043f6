"""
What may decide beside the content of files: the order of their times, and what happened before.

Both count only if the source of a hook names what tells them. Otherwise each order of the same edits would be
a state of its own, and no state would ever come again.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

from pytest_hookharness.model.moves import Move
from pytest_hookharness.model.trace import Moved
from pytest_hookharness.simulation.session.driver import SessionDriver
from pytest_hookharness.simulation.testbed.hook_source import configured
from pytest_hookharness.simulation.testbed.testbed import Testbed

_TELLS_TIMES = re.compile(
    r"(?<![\w-])-(?:[no]t|newer\w*|[acm](?:min|time))\b|[acm]time\b|\bstat\b|\bmake\b|(?<!\w)--?update\b|\bls\s+-\w*t"
)
# These commands of Git go by what its index knows of files, which looking at them changes.
_TELLS_INDEX = re.compile(r"\bdiff-(?:index|files)\b")
_TELLS_HISTORY = re.compile(r"transcript|rollout|session_?file", re.IGNORECASE)

# Otherwise no state would ever come again.
_ASSUMED = "Of what the agent did before, it does not matter how often and in which order."


class HiddenState:
    """
    What hooks may learn of a workspace beside the content of its files.

    Attributes:
        is_unknown: Whether they may learn something that is not looked at here.
        assumed: What is taken for granted of the rest, in a sentence; empty for nothing.
    """

    def __init__(self, testbed: Testbed) -> None:
        source = "\n".join(configured(testbed).values())
        self._testbed = testbed
        self._has_times = _TELLS_TIMES.search(source) is not None
        self._has_history = _TELLS_HISTORY.search(source) is not None
        self.assumed = _ASSUMED if self._has_history else ""
        self.is_unknown = _TELLS_INDEX.search(source) is not None
        self._before: Sequence[Move] = ()
        self._began = max(self._times().values(), default=0)

    def go_on(self, driver: SessionDriver) -> None:
        """Count the moves so far as made before those of each driver that begins here."""
        self._before = _moves(driver)

    def look(self, driver: SessionDriver) -> Mapping[str, str]:
        """Return the files in the order of their changes, and the moves so far, if they count."""
        found: dict[str, str] = {}
        if self._has_times:
            by_time: dict[int, list[str]] = {}
            for path, changed in self._times().items():
                if changed > self._began:
                    by_time.setdefault(changed, []).append(path)
            found["times"] = repr([sorted(by_time[changed]) for changed in sorted(by_time)])
        if self._has_history:
            found["history"] = repr(sorted({repr(move) for move in (*self._before, *_moves(driver))}))
        return found

    def _times(self) -> Mapping[str, int]:
        """Return when the content of each file of the project was changed, in nanoseconds."""
        if not self._has_times:
            return {}
        places = {
            path: self._testbed.workspace.top / path.removeprefix("workspace/")
            for path in self._testbed.files
            if path.startswith("workspace/")
        }
        return {path: os.stat(place).st_mtime_ns for path, place in places.items() if os.path.isfile(place)}  # noqa: PTH113, PTH116


def _moves(driver: SessionDriver) -> Sequence[Move]:
    done = (step.exchange for step in driver.steps)
    return [one.move for one in done if isinstance(one, Moved)]
