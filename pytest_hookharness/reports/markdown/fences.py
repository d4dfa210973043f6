"""
Markdown around hostile text: fences and code spans that it cannot leave.

Text from a run stands only in these: nowhere else is it safe from becoming a link, an image, a mention or a
heading.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import HookEvent, Performed
from pytest_hookharness.reports.safe_text import plain

_MOST = 200


def code(text: str, most: int = _MOST) -> str:
    """Return a code span of one line, with more backticks around it than the text has in a row."""
    line = plain(text, most) or " "
    ticks = "`" * (_longest_run(line) + 1)
    # Markdown removes one blank at either end, and a backtick may not touch the delimiter.
    room = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{ticks}{room}{line}{room}{ticks}"


def fence(lines: Iterable[str], language: str = "text") -> list[str]:
    """Return a fenced block of plain lines; its fence is longer than any row of backticks inside."""
    inside = list(lines)
    ticks = "`" * max(3, 1 + max(map(_longest_run, inside), default=0))
    return ["", f"{ticks}{language}", *inside, ticks, ""]


def _longest_run(line: str) -> int:
    return max(map(len, re.findall(r"`+", line)), default=0)


# A word of a command line that names a file: it contains a folder, or has the suffix of a script.
_WORD = re.compile(r"[^\s`;|&<>()=]+")
_FILE = re.compile(r".*/[^/]+|[^/]+\.(?:[cm]?[jt]s|sh|bash|py|rb|pl)")
_QUOTES = str.maketrans("", "", "'\"")
_DEVICE = "/dev/"


def shown(path: Path, root: Path | None) -> str:
    """Return a path relative to a folder, if it lies in it."""
    return str(path.relative_to(root) if root is not None and path.is_relative_to(root) else path)


def related_files(outcome: Outcome, root: Path | None = None) -> list[tuple[str, str]]:
    """
    Each path with what it is: the scenario and its folders, settings, scripts of hooks, and what was changed.
    """
    scenario = outcome.scenario
    found: dict[str, str] = {}
    if scenario.origin is not None:
        found[shown(scenario.origin.file, root)] = "the scenario"
    for folder, role in ((scenario.project, "the project it starts from"), (scenario.plugin, "the plugin")):
        if folder is not None:
            found[shown(folder, root)] = role
    for _, fire in outcome.trace.hook_runs():
        if fire.hook.source:
            found.setdefault(fire.hook.source, "configures hooks")
        words = " ".join((fire.hook.command, *(fire.hook.args or ())))
        for word in _WORD.findall(words.translate(_QUOTES)):
            if _FILE.fullmatch(word) and not word.startswith(_DEVICE):
                found.setdefault(word, f"named by a hook on {fire.hook.event}")
    changed = _changed(outcome)
    return [*found.items(), *((path, f"changed {counted(number, 'time')}") for path, number in changed)]


def _changed(outcome: Outcome) -> list[tuple[str, int]]:
    exchanges = (step.exchange for step in outcome.trace.steps)
    paths = (
        change.path
        for exchange in exchanges
        if isinstance(exchange, HookEvent | Performed)
        for change in exchange.changes
    )
    return Counter(paths).most_common()
