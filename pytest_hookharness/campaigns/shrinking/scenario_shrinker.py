"""
Shrinking a scenario: few moves, short texts, few files, hooks and settings that still show a problem.

The first act and the move that is refused always stay. The result is called 1-minimal only if each of the
other parts was left out once, alone, and the problem was not seen without it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field, replace
from typing import TypeVar

from pytest_hookharness.campaigns.shrinking.scenario_parts import (
    environment_of,
    hooks_of,
    named_files,
    with_files,
    without_environment,
    without_hooks,
)
from pytest_hookharness.model.expectations import counted
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Edit, Prompt, RunCommand, Stop
from pytest_hookharness.model.scenario import Scenario

T = TypeVar("T")
MOST_PLAYS, MOST_SECONDS = 30, 20.0
# Turns that a small script may take beyond its acts, until the loop is proved or the host ends it.
_MORE_TURNS = 60
# Shorter texts are not halved.
_SHORT = 12


def _never(_: Scenario) -> bool:
    return False


@dataclass(slots=True)
class Shrinker:
    """
    The search for a small scenario.

    Attributes:
        shows: Plays a scenario, and returns whether it shows the problem; ``None`` if that is unknown.
        kept: The refused move, which always stays; ``None``: none.
        rules_out: Returns whether a scenario certainly does not show the problem, so that it is not played.
        ended: Whether it ended before everything was tried.
        unknown: How many scenarios were played without a decision.
    """

    shows: Callable[[Scenario], bool | None]
    best: Scenario
    kept: Act | None = None
    rules_out: Callable[[Scenario], bool] = _never
    most: int = MOST_PLAYS
    more_turns: int = _MORE_TURNS
    plays: int = 0
    until: float = field(default_factory=lambda: time.monotonic() + MOST_SECONDS)
    ended: bool = False
    unknown: int = 0
    _tried: list[Scenario] = field(default_factory=list[Scenario])

    def shrink(self) -> None:
        """Leave out what the problem does not need."""
        self.drop_acts()
        self.shorten_texts()
        self.drop_environment()
        # What is left then is little, and the last pass leaves out file by file.
        if not self.try_out(with_files(self.best, named_files(self.best))):
            minimise(tuple(self.best.files), lambda some: self.try_out(with_files(self.best, some)))
        hooks = hooks_of(self.best)
        if len(hooks) > 1:
            self._drop_parts(hooks, without_hooks)
        while not self.ended and any(map(self.try_out, self.smaller())):
            pass

    def drop_acts(self, least: int = 0) -> None:
        """Leave out ever smaller groups of acts; keep the first one and at least ``least`` others."""
        acts = self.best.script.acts or (FIRST_PROMPT,)
        if self.kept is not None and self.try_out(self._with_acts((acts[0], self.kept))):
            return
        others = [act for act in acts[1:] if act is not self.kept]
        minimise(others, lambda some: self.try_out(self._with_acts(self._arranged(acts, some))), least)

    def shorten_texts(self) -> None:
        """Replace prompts and last words by usual ones where possible, and halve other texts."""
        acts = self.best.script.acts
        plain = tuple(map(_without_text, acts))
        if plain != acts and not self._try_texts(plain):
            for position, act in enumerate(plain):
                acts = self.best.script.acts
                self._try_texts((*acts[:position], act, *acts[position + 1 :]))
        for position in range(1, len(acts)):
            while any(map(self._try_texts, self._halved(position))):
                pass

    def _try_texts(self, acts: Sequence[Act]) -> bool:
        before = self.best.script.acts
        places = [place for place, act in enumerate(before) if act is self.kept]
        if acts == before or not self.try_out(self._with_acts(acts)):
            return False
        self.kept = acts[places[0]] if places else self.kept
        return True

    def _halved(self, position: int) -> Iterator[Sequence[Act]]:
        """Yield the acts with either half of one text."""
        acts = self.best.script.acts
        text = _text(acts[position])
        halves = (text[: len(text) // 2].rstrip(), text[len(text) // 2 :].lstrip())
        for half in halves if len(text) > _SHORT else ():
            if half:
                yield (*acts[:position], _with_text(acts[position], half), *acts[position + 1 :])

    def drop_environment(self) -> None:
        """Leave out environment settings."""
        self._drop_parts(environment_of(self.best), without_environment)

    def _drop_parts(self, parts: Sequence[T], without: Callable[[Scenario, Sequence[T]], Scenario]) -> None:
        whole = self.best
        minimise(parts, lambda some: self.try_out(without(whole, [one for one in parts if one not in some])))

    def smaller(self) -> Iterator[Scenario]:
        """Yield the best scenario without each of its parts."""
        best = self.best
        acts = best.script.acts
        for position, act in enumerate(acts):
            if position and act is not self.kept:
                yield self._with_acts((*acts[:position], *acts[position + 1 :]))
        for path in best.files:
            yield with_files(best, [other for other in best.files if other != path])
        hooks = hooks_of(best)
        if len(hooks) > 1:
            yield from (without_hooks(best, [hook]) for hook in hooks)
        yield from (without_environment(best, [part]) for part in environment_of(best))

    def try_out(self, scenario: Scenario) -> bool:
        """Play a scenario unless it was tried, and keep it if it shows the problem."""
        if scenario in self._tried:
            return False
        if self.plays >= self.most or time.monotonic() > self.until:
            self.ended = True
            return False
        self._tried.append(scenario)
        if self.rules_out(scenario):
            return False
        self.plays += 1
        shown = self.shows(scenario)
        # What was not decided may be smaller and show the problem.
        self.unknown += shown is None
        if not shown:
            return False
        self.best = scenario
        return True

    def describe(self) -> str:
        """Return what is left, and whether each part of it is needed for the loop to be seen."""
        parts = counted(len(self.best.script.acts), "act")
        parts += f" and {counted(len(self.best.files), 'file')}" if self.best.files else ""
        if self.ended:
            how = "small but perhaps not minimal: the search ended first"
        elif self.unknown:
            how = f"perhaps not minimal: {counted(self.unknown, 'smaller one')} ended undecided"
        elif self.best.project:
            how = "each act is needed; all files are kept in a copy, because they are many or not all texts"
        else:
            how = "each of them is needed"
        return f"{parts}; {how}"

    def _arranged(self, acts: Sequence[Act], some: Sequence[Act]) -> tuple[Act, ...]:
        chosen = {id(act) for act in (acts[0], self.kept, *some)}
        return tuple(act for act in acts if id(act) in chosen)

    def _with_acts(self, acts: Sequence[Act]) -> Scenario:
        turns = min(self.best.turns, len(acts) + self.more_turns)
        return replace(self.best, script=replace(self.best.script, acts=tuple(acts)), turns=turns)


def _without_text(act: Act) -> Act:
    match act:
        case Prompt():
            return FIRST_PROMPT
        case Stop():
            return Stop()
        case _:
            return act


def _text(act: Act) -> str:
    match act:
        case RunCommand(command=text) | Prompt(text=text) | Stop(text=text) | Edit(text=text):
            return text
        case _:
            return ""


def _with_text(act: Act, text: str) -> Act:
    match act:
        case RunCommand():
            return replace(act, command=text)
        case Prompt() | Stop() | Edit():
            return replace(act, text=text)
        case _:
            return act


def minimise(items: Sequence[T], shows: Callable[[tuple[T, ...]], bool], least: int = 0) -> tuple[T, ...]:
    """
    Return some of the items, in their order, that still show the problem, by delta debugging.

    The algorithm is ddmin (Zeller and Hildebrandt, 2002), without its tests of single groups: the problems
    here need their items together. If every call of ``shows`` could decide, the result is 1-minimal: without
    any one of its items the problem does not show. At least ``least`` items stay.
    """
    kept = tuple(items)
    parts = 2 if len(kept) > 1 else 1
    while len(kept) > least:
        size = -(-len(kept) // parts)
        starts = range(0, len(kept), size)
        fewer = ((*kept[:start], *kept[start + size :]) for start in starts)
        found = next((some for some in fewer if len(some) >= least and shows(some)), None)
        if found is not None:
            kept, parts = found, max(2, parts - 1)
            parts = min(parts, max(1, len(kept)))
        elif size == 1:
            break
        else:
            parts = min(2 * parts, len(kept))
    return kept
