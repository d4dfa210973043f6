"""Replay a row with real hooks and compare the result with the recorded one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .answers import (
    replay_loop,
    replay_matchers,
    replay_pre,
    replay_settings,
    replay_several,
    replay_stop,
    replay_visibility,
)
from .inputs import replay_payloads
from .limits import replay_timeouts
from .openhands_tables import replay_loops, replay_matrix, replay_process
from .row_scenario import Dialect, Simulate, Terms, dialect_of
from .rows import Row

# Each gives the recorded terms and those that were seen.
REPLAYS: Mapping[str, Callable[[Row, Dialect, Simulate], tuple[Terms, Terms]]] = {
    "pre": replay_pre,
    "stop": replay_stop,
    "loop": replay_loop,
    "several": replay_several,
    "matchers": replay_matchers,
    "visibility": replay_visibility,
    "settings": replay_settings,
    "timeouts": replay_timeouts,
    "payloads": replay_payloads,
    "matrix": replay_matrix,
    "loops": replay_loops,
    "process": replay_process,
}


def differences(row: Row, simulate: Simulate) -> dict[str, tuple[Any, Any]]:
    """Return the terms in which the simulation differs from the recording, each as recorded and as seen."""
    recorded, seen = REPLAYS[row.table](row, dialect_of(row.host), simulate)
    return {term: (recorded[term], seen[term]) for term in recorded if recorded[term] != seen[term]}
