"""
This module is concerned with answers in JSON: finding one in a hook's output, and checking its form.

Middle floor: hosts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from pytest_hookharness.hosts.profile import ReplyRules
from pytest_hookharness.model.protocol import Json, Payload

_TOP = {
    "continue": bool,
    "suppressOutput": bool,
    "stopReason": str,
    "reason": str,
    "systemMessage": str,
    "hookSpecificOutput": Mapping,
}
_SPECIFIC = {
    "permissionDecisionReason": str,
    "updatedInput": Mapping,
    "additionalContext": str,
}
KNOWN = frozenset({*_TOP, "decision", "async", "asyncTimeout", "terminalSequence", "ok", "impossible"})


@dataclass(frozen=True, slots=True)
class Unparsable:
    """
    Output that begins like an answer and is none.
    """

    why: str


def trim(output: str) -> str:
    """
    Output without the white space around it; a byte order mark counts as such.
    """
    return output.strip().strip("\ufeff").strip()


def parse(output: str) -> Payload | Unparsable | None:
    """
    The answer that an output is; ``None`` if it is plain text.
    """
    text = trim(output)
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        return Unparsable(str(error))
    return value if isinstance(value, dict) else None


def announces_background(output: str) -> bool:
    """
    Whether output begins with the answer of a hook that goes on in the background.

    The host reads that answer as soon as it is there; what follows it is not part of it.
    """
    first = parse(trim(output).partition("\n")[0])
    answer = first if isinstance(first, dict) else parse(output)
    return isinstance(answer, dict) and answer.get("async") is True


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def check(rules: ReplyRules, event: str, answer: Payload) -> str | None:
    """
    Why the host does not take an answer; ``None`` if it does.
    """
    wrong = _mistyped(answer, _TOP)
    if wrong:
        return wrong
    decision = answer.get("decision")
    words = (*rules.allowing_words, *rules.refusing_words)
    if "decision" in answer and decision not in words:
        return f"'decision' is {decision!r}; the host knows {', '.join(words)}"
    specific = answer.get("hookSpecificOutput")
    if isinstance(specific, Mapping):
        return _check_specific(rules, event, specific)
    return None


def _check_specific(rules: ReplyRules, event: str, specific: Payload) -> str | None:
    name = specific.get("hookEventName")
    if name is None:
        return "'hookSpecificOutput' has no 'hookEventName'"
    if name != event:
        return f"'hookEventName' is {name!r}, but the event is {event}"
    permission = specific.get("permissionDecision")
    if "permissionDecision" in specific and permission not in rules.permissions:
        return f"'permissionDecision' is {permission!r}; the host knows {', '.join(rules.permissions)}"
    return _mistyped(specific, _SPECIFIC)


def _mistyped(answer: Payload, table: Mapping[str, type]) -> str | None:
    for key, kind in table.items():
        if key in answer and not isinstance(answer[key], kind):
            return f"{key!r} is {answer[key]!r}, which is not of the right type"
    return None


def find_lost(stdout: str, stderr: str) -> str | None:
    """
    Where an answer stands that the host does not find; ``None`` if there is none.
    """
    text = trim(stdout)
    try:
        whole = json.loads(text) if text else None
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, str) and _holds_answer(whole):
        return "the answer is inside a JSON string"
    if isinstance(whole, list) and any(isinstance(item, dict) and KNOWN & set(item) for item in whole):
        return "the answer is inside a JSON array"
    if whole is None and _holds_answer(text):
        return "the answer does not begin the output; something else is printed before it"
    if not text and isinstance(parse(stderr), dict) and _holds_answer(stderr):
        return "the answer is on standard error"
    return None


def _holds_answer(text: str) -> bool:
    decoder = json.JSONDecoder()
    place = text.find("{")
    for _ in range(20):
        if place < 0:
            return False
        try:
            value, _end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        return isinstance(value, dict) and bool(KNOWN & set(value))
    return False
