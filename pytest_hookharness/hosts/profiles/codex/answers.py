"""
The answers that Codex 0.169.0 accepts.

Codex reads an answer by a strict schema for each event: one key too many, or a key that it knows but does
not support, makes the whole answer invalid, including a refusal in it.
"""

from __future__ import annotations

from collections.abc import Mapping

from pytest_hookharness.hosts.rules.replies import AnswerRules, Halting, VerdictPath
from pytest_hookharness.hosts.rules.turns import Role
from pytest_hookharness.model.protocol import Json, Payload, Ruling

_OWN = "hookSpecificOutput"
_COMMON: Mapping[str, type] = {
    "continue": bool,
    "stopReason": str,
    "suppressOutput": bool,
    "systemMessage": str,
}
_RULED: Mapping[str, type] = {**_COMMON, "decision": str, "reason": str}
_NESTED: Mapping[str, type] = {_OWN: Mapping}

# Keys at the top, by event; all other events have only the common keys.
_TOP: Mapping[str, Mapping[str, type]] = {
    "PreToolUse": {**_RULED, **_NESTED},
    "PostToolUse": {**_RULED, **_NESTED},
    "UserPromptSubmit": {**_RULED, **_NESTED},
    "Stop": _RULED,
    "SubagentStop": _RULED,
    "PermissionRequest": {**_COMMON, **_NESTED},
    "SessionStart": {**_COMMON, **_NESTED},
    "SubagentStart": {**_COMMON, **_NESTED},
}
_CONTEXT: Mapping[str, type] = {"hookEventName": str, "additionalContext": str}
_SPECIFIC: Mapping[str, Mapping[str, type]] = {
    "PreToolUse": {
        **_CONTEXT,
        "permissionDecision": str,
        "permissionDecisionReason": str,
        "updatedInput": Mapping,
    },
    "PostToolUse": {**_CONTEXT, "updatedMCPToolOutput": object},
    "UserPromptSubmit": _CONTEXT,
    "SessionStart": _CONTEXT,
    "SubagentStart": _CONTEXT,
    "PermissionRequest": {"hookEventName": str, "decision": Mapping},
}
_GRANT: Mapping[str, type] = {
    "behavior": str,
    "message": str,
    "updatedInput": Mapping,
    "updatedPermissions": object,
    "interrupt": bool,
}
_DECISIONS: Mapping[str, tuple[str, ...]] = {"PreToolUse": ("approve", "block")}
_PERMISSIONS = ("allow", "deny", "ask")

# Keys that the schema knows but the host does not support: the key path, and the value without effect.
_UNSUPPORTED: Mapping[str, tuple[tuple[tuple[str, ...], Json], ...]] = {
    "PreToolUse": ((("continue",), True), (("stopReason",), None), (("suppressOutput",), False)),
    "PostToolUse": ((("suppressOutput",), False), ((_OWN, "updatedMCPToolOutput"), None)),
    "PermissionRequest": (
        (("continue",), True),
        (("stopReason",), None),
        (("suppressOutput",), False),
        ((_OWN, "decision", "updatedInput"), None),
        ((_OWN, "decision", "updatedPermissions"), None),
        ((_OWN, "decision", "interrupt"), False),
    ),
}


def check(event: str, answer: Payload) -> str | None:
    """Return why the host rejects an answer; ``None`` if it accepts it."""
    specific = answer.get(_OWN)
    return (
        _misfit(answer, _TOP.get(event, _COMMON), f"an answer to {event}")
        or (_check_specific(event, specific) if isinstance(specific, Mapping) else None)
        or _unsupported(event, answer)
        or _check_decision(event, answer)
        or (_check_permission(specific) if event == "PreToolUse" and isinstance(specific, Mapping) else None)
    )


def _misfit(given: Mapping[str, Json], table: Mapping[str, type], where: str) -> str | None:
    for key, value in given.items():
        if key not in table:
            return f"{key!r} is not a key of {where}; the host knows {', '.join(table)}"
        if value is not None and not isinstance(value, table[key]):
            return f"{key!r} is {value!r}, which has the wrong type"
    return None


def _check_specific(event: str, specific: Mapping[str, Json]) -> str | None:
    name = specific.get("hookEventName")
    if name is None:
        return f"{_OWN!r} has no 'hookEventName'"
    if name != event:
        return f"'hookEventName' is {name!r}, but the event is {event}"
    wrong = _misfit(specific, _SPECIFIC.get(event, {}), f"{_OWN!r}")
    grant = specific.get("decision")
    if wrong or not isinstance(grant, Mapping):
        return wrong
    return _misfit(grant, _GRANT, f"'{_OWN}.decision'")


def _unsupported(event: str, answer: Payload) -> str | None:
    for path, harmless in _UNSUPPORTED.get(event, ()):
        value: Json = answer
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None and value != harmless:
            return f"{path[-1]!r} is not supported on {event}"
    return None


def _check_decision(event: str, answer: Payload) -> str | None:
    decision, reason = answer.get("decision"), answer.get("reason")
    if decision is None:
        lone = event == "PostToolUse" and reason is not None
        return "'reason' stands without 'decision'" if lone else None
    known = _DECISIONS.get(event, ("block",))
    if decision not in known:
        return f"'decision' is {decision!r}; the host knows {', '.join(known)}"
    if decision == "approve":
        return f"'decision' is 'approve', which is not supported on {event}"
    return None if _says(reason) else "'decision' is 'block' without a 'reason'"


def _check_permission(specific: Mapping[str, Json]) -> str | None:
    permission, changed = specific.get("permissionDecision"), specific.get("updatedInput")
    if permission is not None and permission not in _PERMISSIONS:
        return f"'permissionDecision' is {permission!r}; the host knows {', '.join(_PERMISSIONS)}"
    if permission == "ask":
        return "'permissionDecision' is 'ask', which is not supported"
    if permission == "deny" and not _says(specific.get("permissionDecisionReason")):
        return "'permissionDecision' is 'deny' without a 'permissionDecisionReason'"
    if permission == "allow" and changed is None:
        return "'permissionDecision' is 'allow' without 'updatedInput'; without it 'allow' is not supported"
    if permission != "allow" and changed is not None:
        return "'updatedInput' stands without 'permissionDecision': 'allow'"
    return None


def _says(reason: Json) -> bool:
    return isinstance(reason, str) and bool(reason.strip())


ANSWERS = AnswerRules(
    strips_mark=False,
    check=check,
    known=frozenset({*_RULED, _OWN}),
    verdicts=(
        VerdictPath(
            path=(_OWN, "permissionDecision"),
            reason=(_OWN, "permissionDecisionReason"),
            rulings={"allow": Ruling.ALLOW, "deny": Ruling.DENY},
            roles=(Role.BEFORE_TOOL,),
        ),
        VerdictPath(path=("decision",), rulings={"block": Ruling.DENY}),
    ),
    grant=(_OWN, "decision"),
    halting=Halting.AT_ONCE,
    context=((_OWN, "additionalContext"),),
    changed_input=((_OWN, "updatedInput"),),
    input_needs_allow=True,
    person=(("systemMessage",),),
)
