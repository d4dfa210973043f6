"""Chance in hooks: where the sources of the hooks of a run draw random numbers."""

from __future__ import annotations

from collections.abc import Iterator

from pytest_hookharness.hosts import Power
from pytest_hookharness.judging.recurrence.drawn_numbers import find_draws
from pytest_hookharness.model.trace import Trace
from pytest_hookharness.simulation.testbed.hook_scripts import hook_scripts
from pytest_hookharness.simulation.testbed.hook_source import inlined_code
from pytest_hookharness.simulation.testbed.testbed import Testbed

_MOST_SHOWN = 2


def describe_chance(testbed: Testbed, trace: Trace) -> str:
    """Return how the hooks that could refuse draw random numbers, in words; empty if no source shows that."""
    events = testbed.profile.events
    refusing = [
        run
        for _, run in trace.hook_runs()
        if (rule := events.get(run.hook.event)) is not None
        and (rule.power is not Power.NOTHING or rule.context_continues)
    ]
    # A test double of `shuf` draws nothing.
    doubles = testbed.scenario.commands
    found = [
        f"{word} in {script.name}"
        for script in hook_scripts(testbed, refusing)
        for word in _draws(script.text, script.interpreter)
        if word not in doubles
    ]
    return ", ".join([*dict.fromkeys(found)][:_MOST_SHOWN])


def _draws(text: bytes, interpreter: str) -> Iterator[str]:
    yield from find_draws(text, interpreter)
    if not interpreter:
        for other, code in inlined_code(text):
            yield from find_draws(code, other)
