"""
Answers in JSON: find one in a hook's output, and a value in an answer.

Refusals are known in the form of any host, so that one which this host does not understand is reported.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from pytest_hookharness.hosts.rules.replies import AnswerRules, Halting
from pytest_hookharness.hosts.rules.settings import KeyPath
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json, Payload

_BYTE_ORDER_MARK = "\ufeff"
_EVENT_OUTPUT = "hookSpecificOutput"
# The key paths where any of the hosts looks for a refusal, and the words that refuse there.
_REFUSALS: Mapping[KeyPath, tuple[str, ...]] = {
    ("decision",): ("block", "deny"),
    ("permission",): ("deny",),
    ("permissionDecision",): ("deny",),
    (_EVENT_OUTPUT, "permissionDecision"): ("deny",),
    (_EVENT_OUTPUT, "decision"): ("block", "deny"),
}


@dataclass(frozen=True, slots=True)
class Unparsable:
    """Output that begins like an answer and cannot be parsed. ``why`` is the parser's message."""

    why: str


def trim(rules: AnswerRules, output: str) -> str:
    """
    Return output without surrounding white space, and without a byte order mark where the host ignores one.
    """
    text = output.strip()
    return text.strip(_BYTE_ORDER_MARK).strip() if rules.strips_mark else text


def parse(rules: AnswerRules, output: str) -> Payload | Unparsable | None:
    """Return the answer in an output; ``None`` if the output is plain text."""
    text = trim(rules, output)
    if not text or not text.startswith(rules.starts):
        return None
    try:
        value = _load(rules, text)
        if rules.nested_json and isinstance(value, str):
            value = _load(rules, value)
    except (ValueError, RecursionError) as error:
        return Unparsable(str(error)) if text.startswith("{") else None
    if isinstance(value, dict):
        return value
    return {} if rules.ignores_non_objects else None


def _load(rules: AnswerRules, text: str) -> Json:
    loaded: Json = json.loads(text, parse_constant=None if rules.accepts_nan else _refuse_constant)
    return loaded


def _refuse_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def announces_background(rules: AnswerRules, output: str) -> bool:
    """
    Return whether output begins with the answer of a hook that goes on in the background.

    The host reads that answer as soon as it is there; the text after it is not part of it.
    """
    # The first line alone first, since the rest may be anything; then the whole, for an indented answer.
    first = parse(rules, trim(rules, output).partition("\n")[0])
    answer = first if isinstance(first, dict) else parse(rules, output)
    return isinstance(answer, dict) and answer.get("async") is True


def dig(answer: Json, path: KeyPath) -> Json:
    """Return the value at a key path; ``None`` for no value."""
    for key in path:
        if not isinstance(answer, Mapping):
            return None
        answer = answer.get(key)
    return answer


def find_refusal(answer: Payload) -> str:
    """Return the key and word by which an answer refuses on some host; empty if it refuses on none."""
    found = ((path, dig(answer, path)) for path in _REFUSALS)
    refusals = (f"{'.'.join(path)}: {json.dumps(word)}" for path, word in found if word in _REFUSALS[path])
    return next(refusals, "")


def answer_keys(rules: AnswerRules) -> frozenset[str]:
    """Return the top-level keys that the host reads in an answer."""
    if rules.known:
        return rules.known
    verdicts = (verdict.path for verdict in rules.verdicts)
    changes = (*rules.changed_input, *rules.changed_output)
    paths = (*verdicts, rules.grant, *rules.context, *changes, *rules.person)
    halting = () if rules.halting is Halting.IGNORED else ("continue",)
    return frozenset([*(path[0] for path in paths if path), *halting])


def find_misplaced_answer(rules: AnswerRules, stdout: str, stderr: str) -> str | None:
    """Return where an answer is that the host does not find; ``None`` if there is none."""
    keys = answer_keys(rules)
    text = stdout.strip().strip(_BYTE_ORDER_MARK).strip()
    try:
        whole = json.loads(text) if text else None
    except (ValueError, RecursionError):
        whole = None
    if isinstance(whole, dict) and _is_answer(keys, whole):
        return "the host does not read the answer as JSON; an invisible character stands before it"
    if isinstance(whole, str) and _holds_answer(keys, whole):
        return "the answer is inside a JSON string"
    if isinstance(whole, list) and any(isinstance(item, dict) and _is_answer(keys, item) for item in whole):
        return "the answer is inside a JSON array"
    if whole is None and _holds_answer(keys, text):
        return "the answer does not begin the output; something else is printed before it"
    if not text and stderr.strip().startswith("{") and _holds_answer(keys, stderr):
        return "the answer is on standard error"
    return None


def _is_answer(keys: frozenset[str], value: Payload) -> bool:
    return bool(keys & set(value) or find_refusal(value))


def _holds_answer(keys: frozenset[str], text: str) -> bool:
    decoder = json.JSONDecoder()
    start = text.find("{")
    # Output may be long and full of braces; a real answer is among the first objects.
    for _ in range(20):
        if start < 0:
            return False
        try:
            value, _end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            start = text.find("{", start + 1)
            continue
        return isinstance(value, dict) and _is_answer(keys, value)
    return False
