"""Arguments of a recorded call, with paths of the recorded project relative to it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from pytest_hookharness.model.protocol import Json, Payload


def within(value: Payload, cwd: str) -> Payload:
    """Return arguments in which paths of the recorded project are relative to it."""
    if not cwd or cwd == "/":
        return value
    place = re.compile(rf"(?<![\w./-]){re.escape(cwd.rstrip('/'))}(?P<rest>/|(?![\w.-]))")

    def relative(inner: Json) -> Json:
        match inner:
            case str():
                return place.sub(lambda found: "" if found["rest"] and _goes_on(inner, found) else ".", inner)
            case Mapping():
                return {key: relative(item) for key, item in inner.items()}
            case Sequence():
                return [relative(item) for item in inner]
            case _:
                return inner

    return {key: relative(item) for key, item in value.items()}


def _goes_on(text: str, found: re.Match[str]) -> bool:
    after = text[found.end() : found.end() + 1]
    return bool(after) and not after.isspace() and after not in "'\";&|)"
