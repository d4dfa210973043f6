"""
Rewrite the texts in values of the model, above all the paths of a run.

A report shows `workspace/app.py`, not `/tmp/pytest-of-me/.../workspace/app.py`: the long form is hard to
read, and pushes the end of a text out of sight. A hook beside a test, or in the folder where `try` was
called, is shown as it was written: `./hook.sh`.
"""

from __future__ import annotations

import dataclasses
import enum
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import PurePath
from typing import Any, TypeAlias, TypeVar, cast

from pytest_hookharness.model.delivery import Dialogue
from pytest_hookharness.model.outcome import Outcome
from pytest_hookharness.model.processes import Output, Process
from pytest_hookharness.model.response import Response

_T = TypeVar("_T")
# Returns the text to put in the place of a text, given that and whether its end may be missing.
Rewrite: TypeAlias = Callable[[str, bool], str]
# These stay as they are: the scenario has the developer's own paths, the kept workspace is there to be
# opened, and no report shows what hooks received or what was on a terminal.
_LEFT_OUT = frozenset({"scenario", "kept_workspace", "folders", "payload", "stdin", "shown"})


def rewritten(value: _T, rewrite: Rewrite, left_out: frozenset[str] = frozenset()) -> _T:
    """Return a value with rewritten texts, except in ``left_out``; the same object if no text changes."""
    return cast("_T", _any(value, rewrite, left_out))


def _any(value: object, rewrite: Rewrite, left_out: frozenset[str]) -> object:
    match value:
        case enum.Enum():
            return value
        case str():
            return rewrite(value, False)
        case bytes():
            return _bytes(value, rewrite)
        case Output(data=data, total=total):
            kept = _bytes(data, rewrite, cut=value.cut_at is not None)
            return value if kept is data else Output(kept, total + len(kept) - len(data))
        case Process(command=command):
            other = rewrite(command, True)
            return value if other == command else replace(value, command=other)
        case Dialogue(shown=shown, total=total) if "shown" not in left_out:
            kept = _bytes(shown, rewrite, cut=total > len(shown))
            changed = replace(value, shown=kept, total=total + len(kept) - len(shown))
            return _fields(changed, rewrite, left_out | {"shown"})
        case PurePath():
            path = rewrite(str(value), False)
            return value if path == str(value) else type(value)(path)
        case Mapping():
            items = value.items()
            return {_any(key, rewrite, left_out): _any(item, rewrite, left_out) for key, item in items}
        case tuple():
            return tuple(_any(item, rewrite, left_out) for item in value)
        case list():
            return [_any(item, rewrite, left_out) for item in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return _fields(value, rewrite, left_out)
        case _:
            return value


def _bytes(data: bytes, rewrite: Rewrite, *, cut: bool = False) -> bytes:
    text = data.decode("utf-8", "surrogateescape")
    kept = rewrite(text, cut)
    return data if kept == text else kept.encode("utf-8", "surrogateescape")


def _fields(value: Any, rewrite: Rewrite, left_out: frozenset[str]) -> object:
    names = (field.name for field in dataclasses.fields(value) if field.name not in left_out)
    before = {name: getattr(value, name) for name in names}
    after = {name: _any(item, rewrite, left_out) for name, item in before.items()}
    changed = {
        name: item for name, item in after.items() if item is not before[name] and item != before[name]
    }
    return replace(value, **changed) if changed else value


def with_short_paths(outcome: Outcome) -> Outcome:
    """Return an outcome whose texts name files of the run by their state paths; it has no states."""
    folders = (*outcome.folders, *outcome.scenario.named_reach)
    if not folders:
        return outcome
    # A report prints no states, and there may be thousands.
    bare = replace(outcome, trace=replace(outcome.trace, states={}), folders=())
    # A second call has nothing to shorten.
    bare = replace(bare, scenario=replace(bare.scenario, reach=()))
    return rewritten(bare, _rewriter(folders), _LEFT_OUT)


def with_short_paths_of_event(response: Response) -> Response:
    """Return the same for a single event."""
    if not response.folders:
        return response
    return Response(rewritten(response.hooked, _rewriter(response.folders), _LEFT_OUT))


def shorten(text: str, folders: tuple[tuple[str, str], ...]) -> str:
    """Return a text in which the paths of these folders are replaced by their names."""
    return _rewriter(folders)(text, False) if folders else text


def _rewriter(folders: tuple[tuple[str, str], ...]) -> Rewrite:
    names = dict(folders)
    longest_first = sorted(names, key=len, reverse=True)
    pattern = re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?![\w-]|\.\w)")
    return lambda text, _cut: pattern.sub(lambda found: names[found[0]], text)
