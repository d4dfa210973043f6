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
    "Time that passed was shown by a stand-in for GNU date, by what bash, Python and node load and by files.",
    "Other programs saw the machine's clock, and fires the machine's times of files that they wrote.",
)
# What holds where hooks are recorded.
RECORDED = "What records the hooks (--hook-cov) decides nothing, nor does the time that it takes."
# Which of these holds is known to those who ran the fires.
CONTAINED = "Nobody else changed files outside of the covered folders meanwhile."
UNCONTAINED = "Nothing outside the covered folders decides; what is written there was not watched."

# Where what is written outside of the covered folders is found in the state.
_OUTSIDE = "outside/"
_SHOWN = 3


def gather(trace: Trace, extra: Sequence[str] = ()) -> tuple[str, ...]:
    """
    The standing assumptions, those of the run itself (``extra``) and those that the trace shows, once each.
    """
    shown = (*_patience(trace), *_left_over(trace), *_written_elsewhere(trace), *_assumed_rules(trace))
    return tuple(dict.fromkeys([*STANDING, *extra, *shown]))


def _patience(trace: Trace) -> Iterator[str]:
    for _, fire in trace.fires():
        ending = fire.run.ending if fire.run is not None else None
        if isinstance(ending, TimedOut) and ending.by is Cut.PATIENCE:
            yield f"What was cut after our patience of {ending.after:g} s would never have ended by itself."


def _left_over(trace: Trace) -> Iterator[str]:
    if any(fire.run is not None and fire.run.leftovers for _, fire in trace.fires()):
        yield "Processes that a hook left running, and that were ended after its fire, would change nothing."


def _written_elsewhere(trace: Trace) -> Iterator[str]:
    changed = (change.path for _, hooked in trace.hooked() for change in hooked.changes)
    paths = [*dict.fromkeys(path for path in changed if path.startswith(_OUTSIDE))]
    if paths:
        first = ", ".join(path.removeprefix(_OUTSIDE.rstrip("/")) for path in paths[:_SHOWN])
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        yield (
            "What hooks wrote outside of the covered folders never reached the machine; with a real host "
            f"it stays there: {first}{more}."
        )


def _assumed_rules(trace: Trace) -> Iterator[str]:
    for _, hooked in trace.hooked():
        rules: list[Rule] = [hooked.decision.rule, *hooked.decision.rests_on]
        rules += [fire.reply.rule for fire in hooked.fires]
        for rule in rules:
            if rule.basis is Basis.ASSUMED:
                yield f"Assumed of the host, neither documented nor observed: {rule.text}"
