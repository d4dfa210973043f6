"""
Shrinking: the fewest moves and the shortest texts that still show a problem.

Bounded by a number of sessions, so what is found is small and perhaps not the smallest. What
cannot be shown a second time is no evidence.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pytest_hookharness.campaigns.stress.plan import RACE
from pytest_hookharness.campaigns.stress.replay import ReplayScript
from pytest_hookharness.model.checkup import Symptom
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

# The symptom of a scenario if it shows what is looked for, else nothing.
Look = Callable[[Scenario], Symptom | None]
_MOST = 14
# A scenario that is varied takes as many sessions as there are variations.
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
    A search for the smallest scenario that still shows it.

    Attributes:
        look: Plays one.
        best: The smallest until now; ``None`` before any has shown it.
        left: How many more may be played.
    """

    look: Look
    best: tuple[Scenario, Symptom] | None = None
    left: int = _MOST
    _seen: list[Scenario] = field(default_factory=list[Scenario])

    def try_out(self, scenario: Scenario) -> bool:
        """
        Play a scenario, and keep it if it shows the problem.
        """
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
    A small scenario that shows the same, with what it shows; ``None`` if nothing shows it again.

    Args:
        scenario: The scenario that showed it.
        symptom: What was seen.
        trace: What took place.
        look: Plays a scenario and tells whether it shows it.
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
    Most problems need one move; the scenario itself is the last that is tried.
    """
    recording = ReplayScript.of(trace)
    move = recording.move(symptom.turn)
    alone = [FIRST_PROMPT] if move is None else [FIRST_PROMPT, move]
    if not symptom.code:
        # A verdict is about how it goes on, and not about one move.
        yield _with(scenario, [FIRST_PROMPT], replace(scenario.script, then=Behaviour()))
        yield _with(scenario, [FIRST_PROMPT])
    elif not _is_varied(scenario):
        plain = replace(scenario.script, then=Behaviour())
        yield _with(scenario, [FIRST_PROMPT], plain)
        yield _with(scenario, alone, plain)
        yield _with(scenario, recording.until(symptom.turn + 1), plain)
    families = _SHOWN_BY.get(symptom.kind, (*VARY_FAMILIES, RACE))
    single = [*_single(scenario, families)]
    yield from (_with(one, alone) for one in single)
    yield from single
    yield scenario


def _is_varied(scenario: Scenario) -> bool:
    return bool(scenario.vary) or scenario.parallel is not None


def _single(scenario: Scenario, families: Sequence[str]) -> Iterator[Scenario]:
    """
    Yield the scenario with each of some families alone.
    """
    for request in scenario.vary:
        if request.family in families:
            yield replace(scenario, vary=(request,), parallel=None)
    if scenario.parallel is not None and RACE in families:
        yield replace(scenario, vary=())


def _with(scenario: Scenario, acts: Sequence[Act], script: Script | None = None) -> Scenario:
    script = replace(script or scenario.script, acts=tuple(acts))
    return replace(scenario, script=script, turns=min(scenario.turns, len(acts) + 24))


def _drop_acts(search: _Search, scenario: Scenario) -> None:
    """
    Leave out ever smaller pieces of the acts behind the first.
    """
    first, *acts = scenario.script.acts or (FIRST_PROMPT,)
    size = max(1, len(acts) // 2)
    while size and len(acts) > _is_varied(scenario):
        place = 0
        while place < len(acts) and search.left:
            fewer = [*acts[:place], *acts[place + size :]]
            if search.try_out(_with(scenario, [first, *fewer])):
                acts = fewer
            else:
                place += size
        size //= 2


def _shorten_texts(search: _Search) -> None:
    assert search.best is not None  # noqa: S101 - it is called when something was found
    acts = search.best[0].script.acts if not _is_varied(search.best[0]) else ()
    for place, act in enumerate(acts):
        if place and isinstance(act, RunCommand | Edit | Prompt | Stop):
            _shorten(search, place)


def _shorten(search: _Search, place: int) -> None:
    """
    Halve the text of one act, from its end and from its beginning, as long as the problem shows.
    """
    going = True
    while going and search.left and search.best is not None:
        scenario = search.best[0]
        acts = list(scenario.script.acts)
        text = _text(acts[place])
        going = len(text) > _SHORT and any(
            search.try_out(_with(scenario, [*acts[:place], _told(acts[place], half), *acts[place + 1 :]]))
            for half in (text[: len(text) // 2].rstrip(), text[len(text) // 2 :].lstrip())
            if half
        )


def _text(act: Act) -> str:
    match act:
        case RunCommand(command=text) | Prompt(text=text) | Stop(text=text) | Edit(text=text):
            return text
        case _:
            return ""


def _told(act: Act, text: str) -> Act:
    match act:
        case RunCommand():
            return replace(act, command=text)
        case Prompt() | Stop() | Edit():
            return replace(act, text=text)
        case _:
            return act
