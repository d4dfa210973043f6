"""
This module is concerned with promises about time: how long a host may stand still for the hooks of an event.

Middle floor: judging. Pure. Of twenty fires and more one in twenty may be slower, so that one bad moment of
the machine breaks no promise; of fewer none may.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pytest_hookharness.model.counting import counted
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import NotStarted
from pytest_hookharness.model.timings import Timing, timings
from pytest_hookharness.model.verdicts import Violation


def broken_times(outcome: Outcome, expected: Mapping[str, int]) -> Iterator[Violation]:
    """
    Events of which a hook took longer than promised, or of which none ran at all.
    """
    measured = timings(outcome.trace) if expected else ()
    started = {
        fire.hook.event
        for _, fire in outcome.trace.fires()
        if fire.run is not None and not isinstance(fire.run.ending, NotStarted)
    }
    for event, budget in expected.items():
        of_event = [timing for timing in measured if timing.event == event]
        slowest = max(of_event, key=lambda timing: timing.slowness, default=None)
        path, wanted = f"expect.within_ms.{event}", f"each hook of {event} within {budget} ms"
        if slowest is None or event not in started:
            yield Violation(path=path, expected=wanted, seen=f"no command of {event} was run")
        elif slowest.slowness.cut or slowest.slowness.seconds * 1000 > budget:
            yield Violation(path=path, expected=wanted, seen=_seen(slowest))


def _seen(timing: Timing) -> str:
    fire, number = timing.slowness, len(timing.fires)
    took = f"{1000 * fire.seconds:,.0f} ms"
    which = "its only fire" if number == 1 else f"the slowest of {counted(number, 'fire')}"
    if fire != timing.fires[-1]:
        slowest = timing.fires[-1]
        which = f"95 % of {number} fires took no longer; the slowest was in turn {slowest.turn}"
    # A command may be long, and what is behind it be cut.
    return f"{'cut after ' if fire.cut else ''}{took} in turn {fire.turn} ({which}): {timing.command}"
