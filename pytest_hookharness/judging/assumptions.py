"""
This module is concerned with assumptions: what every judgement of a trace rests on, in sentences.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pytest_hookharness.model.processes import TimedOut
from pytest_hookharness.model.protocol import Basis, Rule
from pytest_hookharness.model.trace import Trace

STANDING: tuple[str, ...] = (
    "Ids and time stamps that the host makes are derived from the seed and the position.",
    "The clock, time stamps of files, the kernel and the network are not part of the state.",
    "Nothing outside the covered folders decides; what is written there was not watched.",
)


def gather(trace: Trace, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """
    The standing assumptions, those of the run itself (``extra``) and those that the trace shows, once each.
    """
    return tuple(dict.fromkeys([*STANDING, *extra, *_patience(trace), *_assumed_rules(trace)]))


def _patience(trace: Trace) -> Iterator[str]:
    for _, fire in trace.fires():
        ending = fire.run.ending if fire.run is not None else None
        if isinstance(ending, TimedOut) and not ending.at_host_limit:
            yield f"What was cut after our patience of {ending.after:g} s would never have ended by itself."


def _assumed_rules(trace: Trace) -> Iterator[str]:
    for _, hooked in trace.hooked():
        rules: list[Rule] = [hooked.decision.rule, *(fire.reply.rule for fire in hooked.fires)]
        for rule in rules:
            if rule.basis is Basis.ASSUMED:
                yield f"Assumed of the host, neither documented nor observed: {rule.text}"
