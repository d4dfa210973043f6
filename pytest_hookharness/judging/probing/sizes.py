"""
Measures: how large what grows is, in the ways in which a hook may ask.

Pure. A limit on a size that is met exactly is found only if it is known when the size
will be there.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pytest_hookharness.judging.state_diff import Files


@dataclass(frozen=True, slots=True)
class Measure:
    """
    A size that grows.

    Attributes:
        now: How large it is.
        step: By how much it grows each lap.
    """

    now: int
    step: int


def measures(before: Files, after: Files, paths: Collection[str]) -> tuple[Measure, ...]:
    """
    The sizes that differ between two moments.

    Args:
        before: The content of every file that differs, one lap ago.
        after: The same now.
        paths: All files that are there now.
    """
    found = [
        Measure(size, size - earlier[name])
        for path in after.keys() & before.keys()
        for earlier in [_sizes(before[path] or b"")]
        for name, size in _sizes(after[path] or b"").items()
        if name in earlier and size != earlier[name]
    ]
    folders = Counter(str(PurePosixPath(path).parent) for path in paths)
    steps = Counter(_folders(after)) - Counter(_folders(before))
    found += [Measure(folders[folder], step) for folder, step in steps.items()]
    return tuple(dict.fromkeys(found))


def _folders(files: Files) -> Iterator[str]:
    return (str(PurePosixPath(path).parent) for path, content in files.items() if content is not None)


def _sizes(content: bytes) -> dict[str, int]:
    sizes = {"bytes": len(content), "lines": content.count(b"\n"), "text": len(content.rstrip(b"\n"))}
    try:
        document = json.loads(content)
    except (ValueError, RecursionError):
        return sizes
    return sizes | dict(_lengths(document, "$"))


def _lengths(value: Any, path: str) -> Iterator[tuple[str, int]]:
    match value:
        case Mapping():
            yield path, len(value)
            for key, item in value.items():
                yield from _lengths(item, f"{path}.{key}")
        case list():
            yield path, len(value)
        case _:
            pass
