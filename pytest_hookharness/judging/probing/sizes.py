"""
Sizes of files: a hook may compare a count with the number of lines, or of the items of a list.

A hook may allow the stop after as many turns as a plan has steps. No number in the plan says how many. Sizes
that grow from repetition to repetition may reach a limit themselves.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from pathlib import PurePosixPath

from pytest_hookharness.judging.state_diff.file_series import Files
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

_LARGEST, _MOST = 1 << 20, 200


@dataclass(frozen=True, slots=True)
class GrowingSize:
    """A size that grows by a step in each repetition."""

    now: int
    step: int


def find_growing_sizes(before: Files, after: Files, paths: Collection[str]) -> tuple[GrowingSize, ...]:
    """Return the sizes that changed in the last repetition, from the files that differ and all paths now."""
    found = [
        GrowingSize(size, size - earlier[name])
        for path in after.keys() & before.keys()
        for earlier in [_sizes(before[path] or b"")]
        for name, size in _sizes(after[path] or b"").items()
        if name in earlier and size != earlier[name]
    ]
    folders = Counter(str(PurePosixPath(path).parent) for path in paths)
    steps = Counter(_folders(after)) - Counter(_folders(before))
    found += [GrowingSize(folders[folder], step) for folder, step in steps.items()]
    return tuple(dict.fromkeys(found))


def _folders(files: Files) -> Iterator[str]:
    return (str(PurePosixPath(path).parent) for path, content in files.items() if content is not None)


def _sizes(content: bytes) -> dict[str, int]:
    sizes = {"bytes": len(content), "lines": content.count(b"\n"), "text": len(content.rstrip(b"\n"))}
    try:
        return sizes | dict(_lengths(json.loads(content), "$"))
    except (ValueError, RecursionError):
        return sizes


def find_sizes(text: bytes) -> frozenset[int]:
    """Return the numbers of lines, with and without empty ones, and JSON lengths; all without 0 and 1."""
    found = {text.count(b"\n"), sum(1 for line in text.splitlines() if line.strip())}
    if len(text) <= _LARGEST and text.lstrip().startswith((b"{", b"[")):
        try:
            lengths = islice(_lengths(json.loads(text), "$", within_lists=True), _MOST)
            found |= {length for _, length in lengths}
        except (ValueError, RecursionError):
            pass
    return frozenset(found) - {0, 1}


def _lengths(value: Json, path: str, *, within_lists: bool = False) -> Iterator[tuple[str, int]]:
    """Yield the lengths of objects and lists in a JSON value, by path; those in lists only if asked for."""
    items: Iterator[tuple[str, Json]] = iter(())
    if isinstance(value, Mapping):
        items = ((f"{path}.{key}", item) for key, item in value.items())
    elif isinstance(value, list):
        items = ((f"{path}[{place}]", item) for place, item in enumerate(value) if within_lists)
    else:
        return
    yield path, len(value)
    for name, item in items:
        yield from _lengths(item, name, within_lists=within_lists)
