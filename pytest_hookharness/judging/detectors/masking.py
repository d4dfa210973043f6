"""
This module is concerned with noise: what differs between two actions that are the same nevertheless.

Middle floor: judging. Pure. Which noise counts where is a table in ``docs/loop-detection.md``.
"""

from __future__ import annotations

import re

_DATE = r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?)?\b"
# Not behind a path, where two numbers are a line and a column.
_CLOCK = r"(?<![\w:./-])\d{1,2}:\d\d(?::\d\d)?(?:[.,]\d+)?(?![\w:])"
_SPAN = r"\b\d+(?:[.,]\d+)?\s?(?:ns|us|ms|s|secs?|seconds?|mins?|minutes?)\b"
_EPOCH = r"\b1[5-9]\d{8}(?:\d{3})?(?:\.\d+)?\b"
_DRAWN = r"(?:(?:tmp|temp)[\w.-]*|[\w.-]*\d{5}[\w.-]*|[\w-]*[0-9a-f]{8}[\w.-]*|pytest-\d+)"
_ROOTS = r"(?P<root>/(?:var/)?tmp|/dev/shm|/var/folders)"
_TEMPORARY = _ROOTS + r"(?P<below>(?:/[\w.+-]+){0,6}?)/" + _DRAWN + r"(?![\w.-])"
_UUID = r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"
_ADDRESS = r"\b0x[0-9a-fA-F]+\b"
_HEX = r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"
_COUNT = r"(?P<word>\b(?:attempt|try|retry|round|iteration|take)\b\W{0,3})\d+"

_TIMES = re.compile(f"{_DATE}|{_CLOCK}|{_SPAN}|{_EPOCH}", re.IGNORECASE)
_NAMES = re.compile(_TEMPORARY)
_IDS = re.compile(f"{_UUID}|{_ADDRESS}")
_COUNTS = re.compile(_COUNT, re.IGNORECASE)
_HASHES = re.compile(_HEX)
_NUMBERS = re.compile(r"\d+(?:\.\d+)?")
_STATUS = re.compile(r"^\s*(?:exit code|process exited with code|exit status)[: ]*#\s*$", re.IGNORECASE)

# Longer texts are compared as they are, all digits left out: a search in them would cost more than it tells.
_LONG = 16_384
_DIGITS = dict.fromkeys(map(ord, "0123456789"))


def mask_times(text: str) -> str:
    """
    The text of a call's arguments without times, temporary names and counts of attempts.
    """
    return _COUNTS.sub(r"\g<word>#", _drifts(text))


def mask_result(text: str) -> str:
    """
    A result without times, temporary names, ids and addresses.
    """
    return text.translate(_DIGITS) if len(text) > _LONG else _IDS.sub("<id>", _drifts(text))


def mask_numbers(text: str) -> str:
    """
    A text without any of that, and without numbers.
    """
    if len(text) > _LONG:
        return text.translate(_DIGITS)
    return _NUMBERS.sub("#", _HASHES.sub("<id>", _IDS.sub("<id>", _drifts(text))))


def mask_error(text: str) -> str:
    """
    An error text without noise; empty if it has no words beyond a status.
    """
    masked = mask_numbers(text).strip()
    return "" if _STATUS.match(masked) else masked


def _drifts(text: str) -> str:
    if len(text) > _LONG:
        return text.translate(_DIGITS)
    if not any(character.isdigit() for character in text) and "/t" not in text:
        return text
    return _NAMES.sub(r"\g<root>\g<below>/<temporary>", _TIMES.sub("<time>", text))
