"""
This module is concerned with signs: an action reduced to what it is compared by.

Middle floor: judging. Pure. A sign is short and of fixed size, so that a memory of signs can be kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pytest_hookharness.judging.detectors.kinds import Kind, kind_of
from pytest_hookharness.judging.detectors.masking import mask_error, mask_numbers, mask_result, mask_times
from pytest_hookharness.model.actions import Action, Outcome
from pytest_hookharness.model.protocol import Json

# What a shell call says about itself and not to the shell.
_ABOUT = frozenset(
    {"description", "justification", "explanation", "summary", "security_risk", "timeout", "timeout_ms"}
) | {"yield_time_ms", "max_output_tokens", "sandbox_permissions", "with_escalated_permissions"}
_LEVELS: Mapping[str, Callable[[str], str]] = {
    "raw": str,
    "times": mask_times,
    "numbers": mask_numbers,
}
_SHOWN = 160


@dataclass(frozen=True, slots=True)
class Sign:
    """
    One action, as it is compared.

    Attributes:
        deed: Digest of tool and arguments, behind the level of noise that was left out of them.
        result: Digest of what came out.
        error: Digest of the error text; empty if it did not fail or has no words.
        said: The call in a few words, as it was made.
    """

    deed: str
    result: str = ""
    error: str = ""
    said: str = ""

    def alike(self, other: Sign) -> bool:
        """
        Whether both are the same call with the same result.
        """
        return self.deed == other.deed and self.result == other.result


def sign(action: Action) -> Sign:
    """
    The sign of an action that is over.
    """
    text = _arguments(action)
    failed = action.outcome in (Outcome.FAILED, Outcome.REFUSED)
    error = mask_error(action.result) if failed else ""
    outcome = mask_numbers(action.result) if failed else mask_result(action.result)
    return Sign(
        deed=_deed(action.tool, text, _level(action)),
        result=digest(action.outcome.value, outcome),
        error=digest(error) if error else "",
        said=_words(action.tool, text),
    )


def intended(action: Action) -> tuple[frozenset[str], str]:
    """
    The deeds that a call would be, depending on what comes out of it, and the call in a few words.
    """
    text = _arguments(action)
    return frozenset(_deed(action.tool, text, level) for level in _LEVELS), _words(action.tool, text)


def digest(*parts: str) -> str:
    """
    A short digest of texts.
    """
    joined = "\0".join(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(joined, digest_size=9).hexdigest()


def _level(action: Action) -> str:
    if kind_of(action.tool, action.arguments) is Kind.EDIT:
        return "raw"
    match action.outcome:
        case Outcome.FAILED | Outcome.REFUSED:
            return "numbers"
        case Outcome.DONE if action.result.strip():
            return "times"
        case Outcome.DONE | Outcome.UNKNOWN:
            return "raw"


def _deed(tool: str, text: str, level: str) -> str:
    return f"{level}:{digest(tool, _LEVELS[level](text))}"


def _arguments(action: Action) -> str:
    given: Mapping[str, Json] = action.arguments
    if kind_of(action.tool, given) is Kind.RUN:
        given = {key: value for key, value in given.items() if key not in _ABOUT}
    return json.dumps(given, sort_keys=True, ensure_ascii=False, separators=(", ", ": "), default=str)


def _words(tool: str, text: str) -> str:
    return f"{tool[:_SHOWN]} {text}" if len(text) <= _SHOWN else f"{tool[:_SHOWN]} {text[:_SHOWN]}..."
