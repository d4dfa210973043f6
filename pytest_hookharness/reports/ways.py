"""
This module is concerned with ways: what each turn of a run came to, and by which fact of its host.

Middle floor: reports. Pure. A way is plain JSON, so that it can cross from one process to another and be
laid beside that of another host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Decision, Rule
from pytest_hookharness.model.trace import Hooked, Step
from pytest_hookharness.model.verdicts import Capped, Livelock

Turn: TypeAlias = Mapping[str, str | int]
Way: TypeAlias = Sequence[Turn]

_MOST_TURNS = 60
_LET = "let go on"


def way(outcome: Outcome) -> list[dict[str, str | int]]:
    """
    What each turn of a run came to; the last entry is how the whole was judged.
    """
    turns: dict[int, list[Step]] = {}
    for step in outcome.trace.steps:
        turns.setdefault(step.turn, []).append(step)
    found = [_turn(number, steps) for number, steps in sorted(turns.items())[:_MOST_TURNS]]
    return [*found, {"turn": 0, "came": outcome.verdict_name, **_fact(_last_rule(outcome))}]


def _turn(number: int, steps: Sequence[Step]) -> dict[str, str | int]:
    decided = [step.exchange.decision for step in steps if isinstance(step.exchange, Hooked)]
    # What held the agent up counts; of several such decisions the last one ended the turn.
    words = [(_word(decision), decision) for decision in decided]
    telling = [pair for pair in words if pair[0] != _LET] or words[-1:]
    if not telling:
        return {"turn": number, "came": "no hook was asked", **_fact(None)}
    came, decision = telling[-1]
    return {"turn": number, "came": came, "event": decision.event, **_fact(decision.rule)}


def _word(decision: Decision) -> str:
    if decision.overridden:
        return "refusal overridden"
    if decision.halt is not None:
        return "halted"
    return "refused" if decision.refused else _LET


def _last_rule(outcome: Outcome) -> Rule | None:
    verdict = outcome.verdict
    if isinstance(verdict, Capped | Livelock) and verdict.guard is not None:
        return verdict.guard.rule
    rules = [hooked.decision.rule for _, hooked in outcome.trace.hooked()]
    return rules[-1] if rules else None


def _fact(rule: Rule | None) -> dict[str, str | int]:
    if rule is None:
        return {"fact": "", "basis": "", "source": ""}
    return {"fact": rule.text, "basis": rule.basis.value, "source": rule.source}
