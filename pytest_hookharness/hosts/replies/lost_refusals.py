"""Refusals without an effect: in keys that the host does not read, or as a text on standard error."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import chain

from pytest_hookharness.hosts.replies.json_parser import dig
from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.model.protocol import Json, Payload

# The key paths where any of the hosts looks for a refusal, and the words that refuse there.
_REFUSALS: Mapping[KeyPath, tuple[str, ...]] = {
    ("decision",): ("block", "deny"),
    ("permission",): ("deny",),
    ("permissionDecision",): ("deny",),
    ("hookSpecificOutput", "permissionDecision"): ("deny",),
    ("hookSpecificOutput", "decision"): ("block", "deny"),
}
_REFUSING_WORDS = frozenset(
    {"block", "blocked", "deny", "denied", "refuse", "refused", "reject", "rejected", "forbid", "forbidden",
     "disallow", "disallowed"}
)  # fmt: skip
_PERMITTING_WORDS = frozenset(
    {"allow", "allowed", "approve", "approved", "permit", "permitted", "accept", "accepted", "ok", "pass",
     "passed"}
)  # fmt: skip
# Keys beside a decision: without one they decide nothing.
_COMPANIONS = frozenset({"reason", "stopReason", "suppressOutput", "message"})
_LEVELS = 3
# Words of guards about a refusal.
_REFUSED = re.compile(
    r"^\W*(?:block(?:ed|ing)|den(?:ied|ying)|refus(?:ed|ing)|reject(?:ed|ing)|forbidden)\b"
    r"|\b(?:is|are) (?:not (?:allowed|permitted)|forbidden|prohibited|blocked|denied|refused)\b",
    re.IGNORECASE,
)
# Words of programs about a failure, and of guards about a refusal, on standard error.
_ERROR = re.compile(
    r"(?:^|[\s:(\[])(?:[A-Z]\w*(?:Error|Exception)|error|fatal(?: error)?|panic|blocked|denied|refused)"
    r"\]?\s*[:!]"
    r"|^Traceback \(|: (?:command )?not found$"
    r"|: no such file or directory$|: permission denied$|^\S+: (?:unrecogni[sz]ed|invalid|unknown) option\b",
    re.IGNORECASE,
)
# How the limiter of Stop hooks says that it allows a stop in spite of what its command says.
_LIMITED = re.compile(r"hookharness-limit: the stop is allowed although ")


def find_refusal(answer: Payload) -> str:
    """Return the key and word by which an answer refuses on some host; empty if it refuses on none."""
    found = ((path, dig(answer, path)) for path in _REFUSALS)
    refusals = (f"{'.'.join(path)}: {json.dumps(word)}" for path, word in found if word in _REFUSALS[path])
    return next(refusals, "")


def is_permission(answer: Payload, known: Collection[str]) -> bool:
    """Return whether an answer only allows something, so that nothing is lost if a host ignores it."""
    if answer.get("continue") is True and answer.keys() <= {"continue", "suppressOutput"}:
        return True
    unread = bool(answer) and not {*answer} & {*known}
    return unread and all(str(value).casefold() in _PERMITTING_WORDS for value in answer.values())


def find_overwritten(text: str) -> str:
    """Return the key and word of a refusal in the first values of an answer's keys; a host keeps the last."""
    try:
        first = json.loads(text, parse_int=str, object_pairs_hook=lambda pairs: dict(reversed(pairs)))
    except (ValueError, RecursionError):
        return ""
    return find_refusal(first) if isinstance(first, dict) else ""


def find_unknown(answer: Payload, known: Collection[str], nested: str = "") -> str:
    """
    Return the part of an answer that the host does not know and that was meant to decide; empty if none is.

    That is an entry which refuses in plain words, or any key if the known ones decide nothing without another
    one.

    Args:
        known: The top-level keys that the host reads.
        nested: A known key whose mapping has refusals too, if the host read none there.
    """
    unknown = {key: value for key, value in answer.items() if key not in known}
    inner = answer.get(nested)
    within = _refusals(inner, f"{nested}.", _LEVELS) if isinstance(inner, Mapping) else iter(())
    meant = next(chain(_refusals(unknown, ""), within), "")
    if meant or not {*answer} - {*unknown} <= _COMPANIONS:
        return meant
    return ", ".join(unknown)


def _refusals(answer: Mapping[str, Json], path: str, level: int = 1) -> Iterator[str]:
    for key, value in answer.items():
        word = key.casefold()
        if isinstance(value, Mapping) and level < _LEVELS:
            yield from _refusals(value, f"{path}{key}.", level + 1)
        elif (
            (isinstance(value, str) and value.strip().casefold() in _REFUSING_WORDS)
            or (value is False and word in _PERMITTING_WORDS)
            or (value is True and word in _REFUSING_WORDS)
        ):
            yield f"{path}{key}: {json.dumps(value)}"


def is_reason_alone(answer: Payload) -> bool:
    """Return whether an answer has a reason and no decision that it could belong to."""
    return bool(answer.get("reason")) and {*answer} <= _COMPANIONS


def find_error(stderr: str, stdout: str = "") -> str:
    """Return the first line that speaks of a refusal, or on standard error of a failure; empty for none."""
    if _LIMITED.search(stderr):
        return ""
    for text, wanted in ((stderr, (_ERROR, _REFUSED)), (stdout, (_REFUSED,))):
        for line in map(str.strip, text.splitlines()):
            if any(pattern.search(line) for pattern in wanted):
                return line
    return ""


# A line that only names a place in a program, such as the first one of a failure in node.
_PLACE = re.compile(r"\S+:\d+")


def is_stack_trace(text: str) -> bool:
    """Return whether a text ends as a program of Python or JavaScript does that crashed."""
    lines = [line for line in text.splitlines() if line.strip()]
    if lines and lines[-1].startswith("Node.js v"):
        lines.pop()
    if len(lines) < 2:
        return False
    of_python = "Traceback (most recent call last):" in lines and lines[-2][:1] == " "
    return of_python or (lines[-1].lstrip().startswith("at ") and lines[-1][:1] in " \t")


def find_message(stderr: str) -> str:
    """
    Return the line of a text on standard error that says most.

    That is the first one with a letter, unless it only names a place, which the line after the next gap
    explains, or it announces a list whose last line is the message.
    """
    text = stderr.strip() or "nothing on standard error"
    lines = [line.strip() for line in text.splitlines()]
    first = next((number for number, line in enumerate(lines) if re.search(r"\w", line)), 0)
    lines = lines[first:]
    if _PLACE.fullmatch(lines[0]) and "" in lines:
        return lines[lines.index("") + 1]
    return lines[-1] if lines[0].endswith(":") else lines[0]
