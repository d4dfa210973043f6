"""Known differences between a profile and the real program, each with the reason why the profile keeps it."""

from __future__ import annotations

import re

from pytest_hookharness.campaigns.live.comparison import Category, Difference
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDifference:
    """
    One known difference.

    Attributes:
        host: The profile's name and version.
        category: What differs.
        where: A regular expression for the place in the session; empty for any.
        real: A regular expression for the value on the real host.
        reason: Why the simulation differs.
    """

    host: str
    category: Category
    where: str = ""
    real: str
    reason: str

    def covers(self, host: str, difference: Difference) -> bool:
        """Return whether a difference of a profile is this one."""
        same = self.host == host and self.category == difference.category
        return same and all(
            re.search(pattern, text, re.DOTALL)
            for pattern, text in ((self.where, difference.where), (self.real, difference.real))
        )


_CLAUDE, _CODEX = "claude-code@2.1.329", "codex@0.169.0"
_CALLS = "the hooks of several calls in one message run one call after the other in the simulation"

LISTED = (
    ListedDifference(
        host=_CLAUDE,
        category="told",
        real=r"\(file state is current in your context|^\s*\d+\t.*\n\s*\d+\t",
        reason="results of Write, Edit and Read have further words",
    ),
    ListedDifference(
        host=_CLAUDE,
        category="payload values",
        where=r"tool_response\.file\.|: tool_input$",
        real=r"^\d+$|'replace_all': False",
        reason="Read counts one line more, and Edit names its default",
    ),
    ListedDifference(
        host=_CLAUDE,
        category="told",
        real=r"(SessionStart:\w+|UserPromptSubmit) hook success: ",
        reason="plain output of hooks is announced in other words",
    ),
    ListedDifference(
        host=_CLAUDE,
        category="payload keys",
        where="SessionStart",
        real="seconds_since_last_response",
        reason="a resumed session says how long it waited, and what its cache costs",
    ),
    ListedDifference(
        host=_CLAUDE, category="order of events", real=r"^\['PreToolUse', [^,]*PostToolUse'\]$", reason=_CALLS
    ),
    ListedDifference(
        host=_CODEX, category="order of events", real=r"^\['PreToolUse', 'PostToolUse'\]$", reason=_CALLS
    ),
    ListedDifference(
        host=_CODEX,
        category="told",
        real=r"Chunk ID: .*Process exited with code",
        reason="the result of a failed command has a head with its number and size",
    ),
)


def find_listed(host: str, difference: Difference) -> ListedDifference | None:
    """Return the known difference that a difference of a profile is; ``None`` for a new one."""
    return next((one for one in LISTED if one.covers(host, difference)), None)
