"""
The path of a run on one host: the result of each turn, and the host fact behind it.

A path is plain JSON, so that it can cross from one process to another and be compared with another path.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.protocol import Decision, Rule, Ruling
from pytest_hookharness.model.trace import HookEvent, Step
from pytest_hookharness.model.verdicts import Capped, Livelock

Turn: TypeAlias = Mapping[str, str | int]
HostPath: TypeAlias = Sequence[Turn]

_MOST_TURNS = 60
# The field by which most hosts tell a stop hook that the agent goes on because of an earlier refusal.
FLAG = "stop_hook_active"
REFUSED = "refused"
UNASKED = "no hook was asked"
_ALLOWED = "allowed"


def path_of(outcome: Outcome) -> list[dict[str, str | int]]:
    """Return the result of each turn; the last entry is the verdict."""
    turns: dict[int, list[Step]] = {}
    for step in outcome.trace.steps:
        turns.setdefault(step.turn, []).append(step)
    found = [_turn(number, steps) for number, steps in sorted(turns.items())[:_MOST_TURNS]]
    return [*found, {"turn": 0, "came": outcome.verdict_name, **_fact(_last_rule(outcome))}]


def _turn(number: int, steps: Sequence[Step]) -> dict[str, str | int]:
    asked = [step.exchange for step in steps if isinstance(step.exchange, HookEvent)]
    # A refusal counts first, then a reply that the host could not use; of several the last one.
    held = [hooked for hooked in asked if _word(hooked.decision) != _ALLOWED]
    decisive = held or [hooked for hooked in asked if _note(hooked)] or asked
    if not decisive:
        return {"turn": number, "came": UNASKED, **_fact(None)}
    hooked = decisive[-1]
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
    """Return what the host could not use of the replies; empty if it used all."""
    replies = [fire.reply for fire in hooked.hook_runs]
    undone = "a refusal was overruled" if any(reply.ruling is Ruling.DENY for reply in replies) else ""
    return next((reply.fault for reply in replies if reply.fault), undone)


def _flag(hooked: HookEvent) -> str:
    """Return the value of the flag in the payloads; empty if there was none."""
    values = [fire.payload[FLAG] for fire in hooked.hook_runs if FLAG in fire.payload]
    return str(values[0]).lower() if values else ""


def _deciding(hooked: HookEvent, noted: str) -> Rule:
    faulty = (fire.reply.rule for fire in hooked.hook_runs if fire.reply.fault == noted)
    return next(faulty, hooked.decision.rule) if noted else hooked.decision.rule


def _word(decision: Decision) -> str:
    if decision.overridden:
        return "refusal overridden"
    if decision.halt is not None:
        return "halted"
    return REFUSED if decision.refused else _ALLOWED


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
