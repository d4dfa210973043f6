"""Known differences between a profile and the real program, each with the reason why the profile keeps it."""

from __future__ import annotations

import re
from typing import Literal

from pytest_hookharness.campaigns.live.comparison import NOTHING, Category, Difference
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedDifference:
    """
    One known difference.

    Attributes:
        host: The profile's name and version.
        category: What differs; empty for anything.
        question: A regular expression for the name of a question of `hookharness calibrate`; empty if it may
            be seen in any session.
        where: A regular expression for the place in the session; empty for any.
        real: A regular expression for the value on the real host; empty for any.
        simulated: A regular expression for what the simulation has in place of ``real``, if the rest of both
            values is equal; empty if it may differ too.
    """

    host: str
    category: Category | Literal[""] = ""
    question: str = ""
    where: str = ""
    real: str = ""
    simulated: str = ""
    reason: str

    def covers(self, host: str, difference: Difference, question: str = "") -> bool:
        """Return whether a difference of a profile is this one."""
        same = self.host == host and self.category in ("", difference.category)
        if self.question and not (question and re.search(self.question, question)):
            return False
        if self.simulated:
            rest = re.sub(self.simulated, "", difference.simulated), re.sub(self.real, "", difference.real)
            same = same and difference.simulated != rest[0] == rest[1] != difference.real
        return same and all(
            re.search(pattern, text, re.DOTALL)
            for pattern, text in ((self.where, difference.where), (self.real, difference.real))
        )


_CLAUDE, _CODEX = "claude-code@2.1.329", "codex@0.169.0"
_GEMINI, _QWEN, _OPENHANDS = "gemini-cli@0.61.0", "qwen-code@0.24.4", "openhands@1.58"
_LOST = "Qwen Code may lose the output of a quick command on a busy machine"
_EMPTY: tuple[tuple[Category, str, str], ...] = (
    ("told", "", r"^Command: .*\nOutput: \(empty\)\n"),
    ("payload values", r"\.llmContent$", r"^Command: .*\nOutput: \(empty\)\n"),
    ("payload values", r"\.returnDisplay$", "^''$"),
    ("payload values", r"^PostToolUseFailure .*: error$", r"^Command: .*\bOutput: \(empty\)\s"),
)
_UNASKED: tuple[tuple[Category, str, str], ...] = (
    ("hook runs", ": PostToolUse ", "^0$"),
    ("order of events", "", r"'PermissionRequest'\]$"),
    ("told", "", "needs approval"),
    ("files", "", f"^{NOTHING}$"),
)
_LATE: tuple[tuple[Category, str], ...] = (("hook runs", ": CwdChanged "), ("order of events", ""))
_TEXTS = "prompt_response holds the texts of refused stops too"

LISTED = (
    *(
        ListedDifference(
            host=_CLAUDE,
            category=category,
            question=r"^PermissionRequest: ",
            where=where,
            real=real,
            reason="without a person, a call that neither a hook nor the settings allow is refused",
        )
        for category, where, real in _UNASKED
    ),
    ListedDifference(
        host=_CLAUDE,
        category="payload values",
        where=r"^PostToolBatch .*: tool_calls$",
        real="'replace_all': False, 'file_path'",
        reason="the default of Edit stands first in the input of PostToolBatch",
    ),
    *(
        ListedDifference(
            host=_CLAUDE,
            category=category,
            question="^CwdChanged: ",
            where=where,
            reason="hooks of CwdChanged may run after the next message of the model",
        )
        for category, where in _LATE
    ),
    ListedDifference(
        host=_CODEX,
        category="told",
        question="of [0-9]+ characters$",
        reason="long texts are cut at other places, and the name of a file with the whole text follows",
    ),
    ListedDifference(
        host=_CLAUDE,
        category="told",
        real=r"Full output saved to: <home>",
        reason="the simulation keeps no file with the whole of a long text",
    ),
    ListedDifference(
        host=_GEMINI, category="payload values", where=r"^AfterAgent .*: prompt_response$", reason=_TEXTS
    ),
    ListedDifference(
        host=_GEMINI,
        category="payload values",
        where=r"Agent .*: prompt$",
        real="^<hook_context>",
        reason="texts of SessionStart hooks stand before the prompt that other hooks get",
    ),
    ListedDifference(
        host=_GEMINI,
        category="hook runs",
        question="^BeforeModel: (?:decision block|exit [23], text|no such command)",
        where=": AfterAgent ",
        real="^1$",
        reason="hooks of AfterAgent run after a refused BeforeModel",
    ),
    ListedDifference(
        host=_GEMINI,
        category="payload values",
        where=r": llm_request\.messages$",
        reason="llm_request has the whole conversation, with what the host says about the session",
    ),
    ListedDifference(
        host=_QWEN,
        category="order of events",
        question="two calls in one message$",
        reason="calls of one message that change nothing are made at the same time",
    ),
    ListedDifference(
        host=_QWEN,
        category="files",
        question="environment variable QWEN_CODE_(?:MODEL|NO_RELAUNCH)$",
        reason="the comparison itself sets another value for the real program",
    ),
    ListedDifference(
        host=_QWEN,
        category="payload values",
        where=r"^MessageDisplay .*: is_final$",
        reason="MessageDisplay occurs only once for a text that comes within 200 ms",
    ),
    ListedDifference(
        host=_OPENHANDS,
        category="files",
        real="^file 600 ",
        simulated="^file 644 ",
        reason="file_editor leaves a file that only its owner can read",
    ),
    *(
        ListedDifference(host=_QWEN, category=category, where=where, real=real, reason=_LOST)
        for category, where, real in _EMPTY
    ),
)


def find_listed(host: str, difference: Difference, question: str = "") -> ListedDifference | None:
    """Return the known difference that a difference of a profile is; ``None`` for a new one."""
    return next((one for one in LISTED if one.covers(host, difference, question)), None)
