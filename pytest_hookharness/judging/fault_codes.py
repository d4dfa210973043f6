"""
This module is concerned with the codes of faults: what hooks do where something is wrong around them.

Middle floor: judging. Data only. Each is found by playing a scenario again with one thing wrong.
"""

from __future__ import annotations

from pytest_hookharness.model.code import Code

FAILS_OPEN = Code(
    "HH201",
    "FAILS-OPEN",
    "With one thing wrong around it, a guard lets through what it refuses otherwise.",
    "A missing tool, another folder or a longer input switches the guard off, and nothing says so.",
    "Refuse where the guard cannot decide, or say that it is meant so: `on_failure: allow`.",
)
FAILS_CLOSED = Code(
    "HH202",
    "FAILS-CLOSED",
    "With one thing wrong around it, a hook refuses what it lets through otherwise.",
    "A fault of the hook's own stands in the way of everything, also of what would mend it.",
    "Let go where the hook cannot decide and tell people, or say that it is meant so: `on_failure: block`.",
)
INERT = Code(
    "HH203",
    "INERT",
    "With one thing wrong around it, a hook cannot be run at all.",
    "A hook that never ran decided nothing: whatever it guards is open, whichever way it was meant to fail.",
    "Quote the path in the settings, name it by the host's variable for the project, keep the executable bit "
    "and plain line ends in the repository (`.gitattributes`).",
)
HANGS = Code(
    "HH204",
    "HANGS",
    "With one thing wrong around it, a hook does not come to its end.",
    "The agent stands still until the host cuts the hook, and a hook that is cut guards nothing.",
    "Read one line or with a limit (`timeout 5 cat`), never ask on a terminal, and limit the time of tools.",
)

FAULT_CODES = (FAILS_OPEN, FAILS_CLOSED, INERT, HANGS)
