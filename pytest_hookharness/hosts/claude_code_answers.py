"""
This module is concerned with answers to Claude Code 2.1.329: where their parts stand, and which it takes.

Middle floor: hosts.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.roles import Role
from pytest_hookharness.hosts.rules.replying import AnswerRules, Halting, VerdictPath
from pytest_hookharness.model.protocol import Json, Payload, Ruling

_TOP: Mapping[str, type] = {
    "continue": bool,
    "suppressOutput": bool,
    "stopReason": str,
    "reason": str,
    "systemMessage": str,
    "hookSpecificOutput": Mapping,
}
_SPECIFIC: Mapping[str, type] = {
    "permissionDecisionReason": str,
    "updatedInput": Mapping,
    "additionalContext": str,
}
_OWN = "hookSpecificOutput"
_PERMISSIONS: Mapping[str | bool, Ruling] = {
    ruling.value: ruling for ruling in (Ruling.ALLOW, Ruling.DENY, Ruling.ASK, Ruling.DEFER)
}
_DECISIONS: Mapping[str | bool, Ruling] = {"approve": Ruling.ALLOW, "block": Ruling.DENY}


def check(event: str, answer: Payload) -> str | None:
    """
    Why the host does not take an answer; ``None`` if it does.
    """
    wrong = _mistyped(answer, _TOP)
    if wrong:
        return wrong
    decision = answer.get("decision")
    if "decision" in answer and decision not in _DECISIONS:
        return f"'decision' is {decision!r}; the host knows {', '.join(map(str, _DECISIONS))}"
    specific = answer.get(_OWN)
    return _check_specific(event, specific) if isinstance(specific, Mapping) else None


def _check_specific(event: str, specific: Mapping[str, Json]) -> str | None:
    name = specific.get("hookEventName")
    if name is None:
        return "'hookSpecificOutput' has no 'hookEventName'"
    if name != event:
        return f"'hookEventName' is {name!r}, but the event is {event}"
    permission = specific.get("permissionDecision")
    if "permissionDecision" in specific and permission not in _PERMISSIONS:
        return f"'permissionDecision' is {permission!r}; the host knows {', '.join(map(str, _PERMISSIONS))}"
    return _mistyped(specific, _SPECIFIC)


def _mistyped(answer: Payload, table: Mapping[str, type]) -> str | None:
    for key, kind in table.items():
        if key in answer and not isinstance(answer[key], kind):
            return f"{key!r} is {answer[key]!r}, which is not of the right type"
    return None


ANSWERS = AnswerRules(
    starts="{",
    check=check,
    known=frozenset({*_TOP, "decision", "async", "asyncTimeout", "terminalSequence", "ok", "impossible"}),
    verdicts=(
        VerdictPath(
            path=(_OWN, "permissionDecision"),
            reason=(_OWN, "permissionDecisionReason"),
            words=_PERMISSIONS,
            roles=(Role.BEFORE_TOOL,),
        ),
        VerdictPath(path=("ok",), words={False: Ruling.DENY}, command=False),
        VerdictPath(path=("decision",), words=_DECISIONS),
    ),
    grant=(_OWN, "decision"),
    halting=Halting.AFTER_CALL,
    context=((_OWN, "additionalContext"),),
    changed_input=((_OWN, "updatedInput"),),
    changed_output=((_OWN, "updatedToolOutput"),),
    person=(("systemMessage",),),
)
