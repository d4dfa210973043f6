"""
Sizes that grow, in the units that a hook may measure.

A threshold that matters only at one exact size is found only by predicting when a part has that size.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from pytest_hookharness.judging.state_diff import Files
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class GrowingSize:
    """
    A size that grows.

    Attributes:
        now: The size now.
        step: The growth per repetition.
    """

    now: int
    step: int


def find_growing_sizes(before: Files, after: Files, paths: Collection[str]) -> tuple[GrowingSize, ...]:
    """
    Return the sizes that differ between two states.

    Args:
        before: The content of every file that differs, one repetition ago.
        after: The same now.
        paths: All files that exist now.
    """
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
