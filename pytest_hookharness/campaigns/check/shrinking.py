"""
Shrinking: find few moves and short texts that still show a problem.

The number of sessions is limited, so the result is small, but perhaps not the smallest. A symptom that no
session shows again is not reported as a problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from pytest_hookharness.campaigns.shrinking.scenario_shrinker import Shrinker
from pytest_hookharness.campaigns.stress.first_run import ReplayScript
from pytest_hookharness.campaigns.stress.plan import RACE
from pytest_hookharness.model.checkup import Symptom
from pytest_hookharness.model.moves import FIRST_PROMPT, Act, Behaviour, Script
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
# Turns that a session may take beyond its acts.
_MORE_TURNS = 24


def shrink(scenario: Scenario, symptom: Symptom, trace: Trace, look: Look) -> tuple[Scenario, Symptom] | None:
    """Return a small scenario that shows the same problem, with its symptom; ``None`` if no scenario does."""
    seen = symptom

    def shows(some: Scenario) -> bool:
        nonlocal seen
        found = look(some)
        seen = found or seen
        return found is not None

    varied = _is_varied(scenario)
    most = _MOST_VARIED if varied else _MOST
    # The sessions are limited by the budget of the check.
    shrinker = Shrinker(shows=shows, best=scenario, most=most, more_turns=_MORE_TURNS, until=math.inf)
    if not any(map(shrinker.try_out, _first_guesses(scenario, symptom, trace))):
        return None
    shrinker.drop_acts(least=int(_is_varied(shrinker.best)))
    if not _is_varied(shrinker.best):
        shrinker.shorten_texts()
    # The environment stays: a hook that fails without a repository is another problem of the same kind.
    return shrinker.best, seen


def _first_guesses(scenario: Scenario, symptom: Symptom, trace: Trace) -> Iterator[Scenario]:
    """Yield scenarios that are likely to show the problem, smallest first: most problems need one move."""
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
    return replace(scenario, script=script, turns=min(scenario.turns, len(acts) + _MORE_TURNS))
