"""
This module is concerned with assumptions: what every judgement of a trace rests on, in sentences.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness.model.processes import Cut, TimedOut
from pytest_hookharness.model.protocol import Basis, Rule
from pytest_hookharness.model.trace import Trace

STANDING: tuple[str, ...] = (
    "Ids and time stamps that the host makes are derived from the seed and the position.",
    "The clock, chance, the kernel, the network, and times, links and blocks of files decide nothing.",
)
# What holds where a clock was moved.
CLOCKS: tuple[str, ...] = (
    "Time that passed was shown by GNU date, bash's printf, Python and node, and by the times of files.",
    "Other programs saw the machine's clock, and fires the machine's times of files that they wrote.",
)
# Which of these holds is known to those who ran the fires.
CONTAINED = "Nobody else changed files outside of the covered folders meanwhile."
UNCONTAINED = "Nothing outside the covered folders decides; what is written there was not watched."


def gather(trace: Trace, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """
    The standing assumptions, those of the run itself (``extra``) and those that the trace shows, once each.
    """
    shown = (*_patience(trace), *_left_over(trace), *_assumed_rules(trace))
    return tuple(dict.fromkeys([*STANDING, *extra, *shown]))


def _patience(trace: Trace) -> Iterator[str]:
    for _, fire in trace.fires():
        ending = fire.run.ending if fire.run is not None else None
        if isinstance(ending, TimedOut) and ending.by is Cut.PATIENCE:
            yield f"What was cut after our patience of {ending.after:g} s would never have ended by itself."


def _left_over(trace: Trace) -> Iterator[str]:
    if any(fire.run is not None and fire.run.leftovers for _, fire in trace.fires()):
        yield "Processes that a hook left running, and that were ended after its fire, would change nothing."


def _assumed_rules(trace: Trace) -> Iterator[str]:
    for _, hooked in trace.hooked():
        rules: list[Rule] = [hooked.decision.rule, *hooked.decision.rests_on]
        rules += [fire.reply.rule for fire in hooked.fires]
        for rule in rules:
            if rule.basis is Basis.ASSUMED:
                yield f"Assumed of the host, neither documented nor observed: {rule.text}"
