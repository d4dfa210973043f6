"""
Show the paths of a run as state paths: `workspace/app.py`, not `/tmp/pytest-of-me/.../workspace/app.py`.

The long form hides what a person looks for, and pushes the end of a text out of sight. A hook beside a test,
or in the folder where `try` was called, is shown as it was written: `./hook.sh`.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeVar, cast

from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Output
from pytest_hookharness.model.response import Response

_T = TypeVar("_T")
_Rewrite = Callable[[str], str]
# The scenario holds the developer's own paths, and the kept workspace is meant to be opened.
_LEFT_OUT = frozenset({"scenario", "kept_workspace", "folders", "payload"})


def with_short_paths(outcome: Outcome) -> Outcome:
    """Return an outcome whose texts name files of the run by their state paths; it has no states."""
    folders = (*outcome.folders, *outcome.scenario.named_reach)
    if not folders:
        return outcome
    # A report prints no states, and there may be thousands.
    bare = replace(outcome, trace=replace(outcome.trace, states={}), folders=())
    # Nothing is left to be shortened a second time.
    bare = replace(bare, scenario=replace(bare.scenario, reach=()))
    return _rewritten(bare, _rewriter(folders))


def with_short_paths_of_event(response: Response) -> Response:
    """Return the same for a single event."""
    if not response.folders:
        return response
    return Response(_rewritten(response.hooked, _rewriter(response.folders)))


def shorten(text: str, folders: tuple[tuple[str, str], ...]) -> str:
    """Return a text in which the paths of these folders are replaced by their names."""
    return _rewriter(folders)(text) if folders else text


def _rewriter(folders: tuple[tuple[str, str], ...]) -> _Rewrite:
    names = dict(folders)
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?![\w-]|\.\w)")
    return lambda text: pattern.sub(lambda found: names[found[0]], text)


def _rewritten(value: _T, rewrite: _Rewrite) -> _T:
    return cast("_T", _any(value, rewrite))


def _any(value: object, rewrite: _Rewrite) -> object:
    match value:
        case str() if not isinstance(value, enum.Enum):
            return rewrite(value)
        case Output(data=data, total=total):
            text = data.decode("utf-8", "surrogateescape")
            short = rewrite(text)
            if short == text:
                return value
            kept = short.encode("utf-8", "surrogateescape")
            return Output(kept, total + len(kept) - len(data))
        case Mapping():
            return {key: _any(item, rewrite) for key, item in value.items()}
        case tuple():
            return tuple(_any(item, rewrite) for item in value)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _fields(value, rewrite)
        case _:
            return value


def _fields(value: Any, rewrite: _Rewrite) -> object:
    changed: dict[str, object] = {}
    for field in dataclasses.fields(value):
        if field.name not in _LEFT_OUT:
            before = getattr(value, field.name)
            after = _any(before, rewrite)
            if after is not before and after != before:
                changed[field.name] = after
    return replace(value, **changed) if changed else value
