"""Recorded paths: those of the project relative to it, those of temporary files by their usual name."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from pytest_hookharness.model.protocol import Json, Payload


def within(value: Payload, cwd: str) -> Payload:
    """Return arguments in which paths of the recorded project are relative to it."""
    if not cwd or cwd == "/":
        return value
    return _replaced(value, cwd, lambda found: "" if found["rest"] and _goes_on(found) else ".")


def with_usual_folder(value: Payload, temporary: str) -> Payload:
    """Return a payload that names ``/tmp`` instead of another folder for temporary files."""
    if not temporary.startswith("/") or temporary.strip("/") == "":
        return value
    return _replaced(value, temporary, lambda found: f"/tmp{found['rest']}")  # noqa: S108 -- a name only


def _replaced(value: Payload, folder: str, by: Callable[[re.Match[str]], str]) -> Payload:
    place = re.compile(rf"(?<![\w./-]){re.escape(folder.rstrip('/'))}(?P<rest>/|(?![\w.-]))")

    def changed(inner: Json) -> Json:
        match inner:
            case str():
                return place.sub(by, inner)
            case Mapping():
                return {key: changed(item) for key, item in inner.items()}
            case Sequence():
                return [changed(item) for item in inner]
            case _:
                return inner

    return {key: changed(item) for key, item in value.items()}


def _goes_on(found: re.Match[str]) -> bool:
    after = found.string[found.end() : found.end() + 1]
    return bool(after) and not after.isspace() and after not in "'\";&|)"
