"""Recorded paths: those of the project relative to it, those of temporary files by their usual name."""

from __future__ import annotations

import re
from collections.abc import Callable

from pytest_hookharness.model.moves import WORKSPACE
from pytest_hookharness.model.protocol import Payload, map_texts


def within(value: Payload, cwd: str, above: int = 0) -> Payload:
    """
    Return arguments in which paths of the recorded project are relative to the folder of the session.

    Args:
        value: The arguments.
        cwd: The folder of the session.
        above: How many folders the top of the project is above it.
    """
    if not cwd or cwd == "/":
        return value
    value = _replaced(value, cwd, lambda found: "" if found["rest"] and _goes_on(found) else ".")
    up, top = "/".join([".."] * above), _top(cwd, above)
    return _replaced(value, top, lambda found: up + found["rest"]) if above and top else value


def below_workspace(value: Payload, cwd: str, above: int = 0) -> Payload:
    """Return the same arguments with absolute paths, for which a script writes ``{{workspace}}``."""
    if not cwd or cwd == "/":
        return value
    value = _replaced(value, cwd, lambda found: WORKSPACE + found["rest"])
    up, top = "/.." * above, _top(cwd, above)
    return _replaced(value, top, lambda found: WORKSPACE + up + found["rest"]) if above and top else value


def _top(cwd: str, above: int) -> str:
    return "/".join(cwd.rstrip("/").split("/")[: -above or None])


def with_usual_folder(value: Payload, temporary: str) -> Payload:
    """Return a payload that names ``/tmp`` instead of another folder for temporary files."""
    if not temporary.startswith("/") or temporary.strip("/") == "":
        return value
    return _replaced(value, temporary, lambda found: f"/tmp{found['rest']}")  # noqa: S108 -- a name only


def _replaced(value: Payload, folder: str, by: Callable[[re.Match[str]], str]) -> Payload:
    place = re.compile(rf"(?<![\w./-]){re.escape(folder.rstrip('/'))}(?P<rest>/|(?![\w.-]))")
    return {key: map_texts(item, lambda text: place.sub(by, text)) for key, item in value.items()}


def _goes_on(found: re.Match[str]) -> bool:
    after = found.string[found.end() : found.end() + 1]
    return bool(after) and not after.isspace() and after not in "'\";&|)"
