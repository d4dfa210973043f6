"""
Shrinking a reproduced session: few moves, short texts, few files and hooks that still show the same loop.

The first prompt and the refused move always stay. The result is called 1-minimal only if each of the other
parts was left out once, alone, and the loop was not seen without it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from fnmatch import fnmatchcase
from pathlib import PurePath

from pytest_hookharness import hosts
from pytest_hookharness.campaigns.shrinking.delta_debugging import minimise
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Prompt, Stop
from pytest_hookharness.model.protocol import Json
from pytest_hookharness.model.scenario import Scenario

MOST_PLAYS, MOST_SECONDS = 30, 20.0
# Turns that a small script may take beyond its acts, until the loop is proved or the host ends it.
_MORE_TURNS = 60


@dataclass(slots=True)
class Shrinker:
    """
    The search for a small scenario.

    Attributes:
        shows: Plays a scenario, and returns whether it shows the loop; ``None`` if that is unknown.
        best: The smallest scenario so far.
        kept: The refused move, which always stays.
        plays: How many scenarios were played.
        until: When the search ends.
        ended: Whether it ended before everything was tried.
        unknown: How many scenarios were played without a decision.
    """

    shows: Callable[[Scenario], bool | None]
    best: Scenario
    kept: Act
    plays: int = 0
    until: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)
    ended: bool = False
    unknown: int = 0
    _tried: list[Scenario] = field(default_factory=list[Scenario])

    def shrink(self) -> None:
        """Leave out what the loop does not need."""
        acts = self.best.script.acts
        if not self._try(_with_acts(self.best, [acts[0], self.kept])):
            others = [act for act in acts[1:] if act is not self.kept]
            minimise(others, lambda some: self._try(_with_acts(self.best, self._arranged(acts, some))))
        self._try(_with_acts(self.best, [_without_text(act) for act in self.best.script.acts]))
        self._try(_with_files(self.best, named_files(self.best)))
        minimise(tuple(self.best.files), lambda some: self._try(_with_files(self.best, some)))
        whole, hooks = self.best, [*hook_groups(self.best)]
        minimise(
            hooks, lambda some: self._try(_without_hooks(whole, [one for one in hooks if one not in some]))
        )
        while not self.ended and any(map(self._try, self._smaller())):
            pass

    def _arranged(self, acts: Sequence[Act], some: Sequence[Act]) -> list[Act]:
        chosen = {id(act) for act in (acts[0], self.kept, *some)}
        return [act for act in acts if id(act) in chosen]

    def _smaller(self) -> Iterator[Scenario]:
        """Yield the best scenario without each of its parts."""
        best = self.best
        acts = best.script.acts
        kept = _without_text(self.kept)
        for position, act in enumerate(acts):
            if position and act not in (self.kept, kept):
                yield _with_acts(best, [*acts[:position], *acts[position + 1 :]])
        for path in best.files:
            yield _with_files(best, [other for other in best.files if other != path])
        hooks = [*hook_groups(best)]
        if len(hooks) > 1:
            yield from (_without_hooks(best, [hook]) for hook in hooks)

    def _try(self, scenario: Scenario) -> bool:
        if scenario in self._tried:
            return False
        if self.plays >= MOST_PLAYS or time.monotonic() > self.until:
            self.ended = True
            return False
        self._tried.append(scenario)
        self.plays += 1
        shown = self.shows(scenario)
        # What was not decided may be smaller and show the loop.
        self.unknown += shown is None
        if not shown:
            return False
        self.best = scenario
        return True

    def describe(self) -> str:
        """Return what is left, and whether it is 1-minimal."""
        parts = counted(len(self.best.script.acts), "act")
        parts += f" and {counted(len(self.best.files), 'file')}" if self.best.files else ""
        if self.ended:
            how = "small but perhaps not minimal: the search ended first"
        elif self.unknown:
            how = f"perhaps not minimal: {counted(self.unknown, 'smaller one')} ended undecided"
        elif self.best.project:
            how = "1-minimal acts; all files are kept in a copy, because they are many or not all texts"
        else:
            how = "1-minimal: without any other part the loop is not seen"
        return f"{parts}, {how}"


def _with_acts(scenario: Scenario, acts: Sequence[Act]) -> Scenario:
    turns = min(scenario.turns, len(acts) + _MORE_TURNS)
    return replace(scenario, script=replace(scenario.script, acts=tuple(acts)), turns=turns)


def _with_files(scenario: Scenario, paths: Sequence[str]) -> Scenario:
    files = {path: text for path, text in scenario.files.items() if path in paths}
    return replace(scenario, files=files, modes={p: m for p, m in scenario.modes.items() if p in files})


def _without_text(act: Act) -> Act:
    match act:
        case Prompt():
            return FIRST_PROMPT
        case Stop():
            return Stop()
        case _:
            return act


def named_files(scenario: Scenario) -> tuple[str, ...]:
    """Return the settings of the host, and the files that these or each other name; often that is enough."""
    config = hosts.find(scenario.host).config
    patterns = [pattern.removeprefix("workspace/") for pattern in config.paths]
    found = [path for path in scenario.files if any(fnmatchcase(path, pattern) for pattern in patterns)]
    for path in found:
        names = (other for other in scenario.files if other not in found)
        found += [other for other in names if PurePath(other).name in scenario.files[path]]
    return tuple(found)


def hook_groups(scenario: Scenario) -> Iterator[tuple[str, str, int]]:
    """Yield file, event and position of each group of hooks in the settings files of a scenario."""
    for path, text in scenario.files.items():
        for event, groups in _hooks_in(path, text).items():
            if isinstance(groups, list):
                yield from ((path, event, position) for position in range(len(groups)))


def _hooks_in(path: str, text: str) -> dict[str, Json]:
    if not path.endswith(".json"):
        return {}
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    hooks = read.get("hooks") if isinstance(read, dict) else None
    return hooks if isinstance(hooks, dict) else {}


def _without_hooks(scenario: Scenario, left_out: Sequence[tuple[str, str, int]]) -> Scenario:
    files = dict(scenario.files)
    for path in dict.fromkeys(path for path, _, _ in left_out):
        settings = json.loads(files[path])
        settings["hooks"] = {
            event: kept
            for event, groups in settings["hooks"].items()
            if (kept := [g for n, g in enumerate(groups) if (path, event, n) not in left_out])
        }
        files[path] = json.dumps(settings, indent=2) + "\n"
    return replace(scenario, files=files)
