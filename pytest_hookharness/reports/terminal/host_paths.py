"""
Ways: what each turn of a run came to, and by which fact of its host.

Pure. A way is plain JSON, so that it can cross from one process to another and be
laid beside that of another host.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Decision, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, Step
from pytest_hookharness.model.verdicts import Capped, Livelock

Turn: TypeAlias = Mapping[str, str | int]
Way: TypeAlias = Sequence[Turn]

_MOST_TURNS = 60
# The word by which most hosts tell hooks of a stop that the agent goes on because of one.
FLAG = "stop_hook_active"
REFUSED = "refused"
UNASKED = "no hook was asked"
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
    asked = [step.exchange for step in steps if isinstance(step.exchange, HookEvent)]
    # What held the agent up counts, then what was lost; of several such decisions the last one.
    held = [hooked for hooked in asked if _word(hooked.decision) != _LET]
    telling = held or [hooked for hooked in asked if _note(hooked)] or asked
    if not telling:
        return {"turn": number, "came": UNASKED, **_fact(None)}
    hooked = telling[-1]
    noted = _note(hooked) if not held else ""
    return {
        "turn": number,
        "came": _word(hooked.decision),
        "event": hooked.event,
        "noted": noted,
        "flag": _flag(hooked),
        **_fact(_deciding(hooked, noted)),
    }


def _note(hooked: HookEvent) -> str:
    """
    What the host could not use of what the hooks said.
    """
    replies = [fire.reply for fire in hooked.hook_runs]
    undone = "a refusal was undone" if any(reply.ruling is Ruling.DENY for reply in replies) else ""
    return next((reply.fault for reply in replies if reply.fault), undone)


def _flag(hooked: HookEvent) -> str:
    """
    What the hooks were told of the refusals before; empty for nothing.
    """
    told = [fire.payload[FLAG] for fire in hooked.hook_runs if FLAG in fire.payload]
    return str(told[0]).lower() if told else ""


def _deciding(hooked: HookEvent, noted: str) -> Rule:
    faulty = (fire.reply.rule for fire in hooked.hook_runs if fire.reply.fault == noted)
    return next(faulty, hooked.decision.rule) if noted else hooked.decision.rule


def _word(decision: Decision) -> str:
    if decision.overridden:
        return "refusal overridden"
    if decision.halt is not None:
        return "halted"
    return REFUSED if decision.refused else _LET


def _last_rule(outcome: Outcome) -> Rule | None:
    verdict = outcome.verdict
    if isinstance(verdict, Capped | Livelock) and verdict.cap is not None:
        return verdict.cap.rule
    rules = [hooked.decision.rule for _, hooked in outcome.trace.hooked()]
    return rules[-1] if rules else None


def _fact(rule: Rule | None) -> dict[str, str | int]:
    if rule is None:
        return {"fact": "", "basis": "", "source": ""}
    return {"fact": rule.text, "basis": rule.basis.value, "source": rule.source}
