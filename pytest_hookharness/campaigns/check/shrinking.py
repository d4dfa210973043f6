"""
Shrinking: find few moves and short texts that still show a problem.

The number of sessions is limited, so the result is small, but perhaps not the smallest. A symptom that no
session shows again is not reported as a problem.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import field, replace

from pytest_hookharness.campaigns.shrinking.delta_debugging import minimise
from pytest_hookharness.campaigns.stress.plan import RACE
from pytest_hookharness.campaigns.stress.replay import ReplayScript
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import (
    FIRST_PROMPT,
    Act,
    Behaviour,
    Edit,
    Prompt,
    RunCommand,
    Script,
    Stop,
)
from pytest_hookharness.model.mutations import VARY_FAMILIES
from pytest_hookharness.model.scenario import Scenario
from pytest_hookharness.model.trace import Trace

# Plays a scenario; returns the symptom if it shows the problem, else nothing.
Look = Callable[[Scenario], Symptom | None]
_MOST = 14
# A scenario with mutations takes as many sessions as it has mutations.
_MOST_VARIED = 6
# The families of mutations that show these; the rest may be shown by any.
_SHOWN_BY: Mapping[str, tuple[str, ...]] = {
    "TEXT-MATCH": ("quoting",),
    "RAW-JSON": ("key-order", "words"),
    "WRONG-KEY": ("sessions", "processes"),
    "BASENAME": ("names",),
    "UNGUARDED-TOOL": ("tools",),
    "STATUS-LEAK": ("tools", "state"),
    "FAILS-CLOSED": ("state",),
    "LOST-UPDATES": (RACE,),
    "TORN-STATE": (RACE,),
}
_SHORT = 12


@dataclass(slots=True)
class _Search:
    """
    A search for a small scenario that still shows the problem.

    Attributes:
        look: Plays a scenario.
        best: The smallest so far, with its symptom; ``None`` if none has shown the problem yet.
        left: How many more may be played.
    """

    look: Look
    best: tuple[Scenario, Symptom] | None = None
    left: int = _MOST
    _seen: list[Scenario] = field(default_factory=list[Scenario])

    def try_out(self, scenario: Scenario) -> bool:
        """Play a scenario, and keep it if it shows the problem."""
        if self.left <= 0 or scenario in self._seen:
            return False
        self.left -= 1
        self._seen.append(scenario)
        symptom = self.look(scenario)
        if symptom is None:
            return False
        self.best = (scenario, symptom)
        return True


def shrink(scenario: Scenario, symptom: Symptom, trace: Trace, look: Look) -> tuple[Scenario, Symptom] | None:
    """
    Return a small scenario that shows the same problem, with its symptom; ``None`` if no scenario does.

    Args:
        scenario: The scenario that showed the problem.
        symptom: The symptom.
        trace: The trace of that scenario.
        look: Plays a scenario; returns the symptom if it shows the problem.
    """
    search = _Search(look, left=_MOST_VARIED if _is_varied(scenario) else _MOST)
    if not any(map(search.try_out, _first_guesses(scenario, symptom, trace))):
        return None
    assert search.best is not None  # noqa: S101 - one of the guesses has shown it
    _drop_acts(search, search.best[0])
    _shorten_texts(search)
    return search.best


def _first_guesses(scenario: Scenario, symptom: Symptom, trace: Trace) -> Iterator[Scenario]:
    """
    Yield scenarios that are likely to show the problem, the smallest first: most problems need one move.
    """
    replay = ReplayScript.of(trace)
    move = replay.move(symptom.turn)
    alone = [FIRST_PROMPT] if move is None else [FIRST_PROMPT, move]
    if not symptom.code:
        # A verdict depends on how the session continues, not on one move.
        yield _with(scenario, [FIRST_PROMPT], replace(scenario.script, then=Behaviour()))
        yield _with(scenario, [FIRST_PROMPT])
    elif not _is_varied(scenario):
        plain = replace(scenario.script, then=Behaviour())
        yield _with(scenario, [FIRST_PROMPT], plain)
        yield _with(scenario, alone, plain)
        yield _with(scenario, replay.until(symptom.turn + 1), plain)
    families = _SHOWN_BY.get(symptom.kind, (*VARY_FAMILIES, RACE))
    single = [*_single(scenario, families)]
    yield from (_with(one, alone) for one in single)
    yield from single
    yield scenario


def _is_varied(scenario: Scenario) -> bool:
    return bool(scenario.vary) or scenario.parallel is not None


def _single(scenario: Scenario, families: Sequence[str]) -> Iterator[Scenario]:
    """Yield the scenario with each of some families alone."""
    for request in scenario.vary:
        if request.family in families:
            yield replace(scenario, vary=(request,), parallel=None)
    if scenario.parallel is not None and RACE in families:
        yield replace(scenario, vary=())


def _with(scenario: Scenario, acts: Sequence[Act], script: Script | None = None) -> Scenario:
    script = replace(script or scenario.script, acts=tuple(acts))
    return replace(scenario, script=script, turns=min(scenario.turns, len(acts) + 24))


def _drop_acts(search: _Search, scenario: Scenario) -> None:
    """Remove ever smaller groups of acts, but keep the first act."""
    first, *acts = scenario.script.acts or (FIRST_PROMPT,)
    least = int(_is_varied(scenario))
    minimise(acts, lambda fewer: search.try_out(_with(scenario, [first, *fewer])), least)


def _shorten_texts(search: _Search) -> None:
    assert search.best is not None  # noqa: S101 - it is called when something was found
    acts = search.best[0].script.acts if not _is_varied(search.best[0]) else ()
    for position, act in enumerate(acts):
        if position and isinstance(act, RunCommand | Edit | Prompt | Stop):
            _shorten(search, position)


def _shorten(search: _Search, position: int) -> None:
    """Halve the text of one act, at its end or its beginning, as long as the problem shows."""
    going = True
    while going and search.left and search.best is not None:
        scenario = search.best[0]
        acts = list(scenario.script.acts)
        text = _text(acts[position])
        going = len(text) > _SHORT and any(
            search.try_out(
                _with(scenario, [*acts[:position], _with_text(acts[position], half), *acts[position + 1 :]])
            )
            for half in (text[: len(text) // 2].rstrip(), text[len(text) // 2 :].lstrip())
            if half
        )


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
