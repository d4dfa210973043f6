"""
This module is concerned with the files that an outcome has to do with, as far as the trace names them.

Middle floor: reports. Pure.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.trace import Hooked, Performed

# A word of a command line that names a file: it has a folder, or a suffix of a script.
_WORD = re.compile(r"[^\s`;|&<>()=]+")
_FILE = re.compile(r".*/[^/]+|[^/]+\.(?:[cm]?[jt]s|sh|bash|py|rb|pl)")
_QUOTES = str.maketrans("", "", "'\"")
_DEVICE = "/dev/"


def shown(path: Path, root: Path | None) -> str:
    """
    A path relative to a folder, if it lies in it.
    """
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
    for _, fire in outcome.trace.fires():
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
        if isinstance(exchange, Hooked | Performed)
        for change in exchange.changes
    )
    return Counter(paths).most_common()
