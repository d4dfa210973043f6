"""
Masks: the parts of the state that the author of a scenario declares irrelevant.

A mask without keys and text leaves out what it names altogether: content, mode and existence. One that names
a folder stands for everything below it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.regex import Regex
from pytest_hookharness.model.scenario import Mask
from pytest_hookharness.model.trace import StateEntry

TRANSCRIPT = "transcript"
_LEFT_OUT = "(masked)"


@dataclass(frozen=True, slots=True)
class Masked:
    """
    A file's content without what is masked.

    Attributes:
        data: What is left of it; ``None`` if nothing of it counts.
        changed: Whether a mask left something out.
        problem: Why a mask that names the file could not be applied; empty if all could.
    """

    data: bytes | None
    changed: bool = False
    problem: str = ""


class Hidden:
    """Records state paths where masks hid a difference: contents differed, but not their unmasked parts."""

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._seen: dict[tuple[str, str], str] = {}

    def note(self, path: str, whole: str, left: str) -> None:
        """Record the digests of a file's whole content and of what the masks left of it."""
        if self._seen.setdefault((path, left), whole) != whole:
            self.paths.add(path)

    def compare(self, before: Mapping[str, StateEntry], after: Mapping[str, StateEntry]) -> None:
        """Record what differs between the entries that masks left out at two times."""
        self.paths |= {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}


class Masking:
    """The masks of a scenario, compiled."""

    def __init__(self, masks: Sequence[Mask], transcripts: Collection[str] = ()) -> None:
        self._masks = [(_files_of(mask, transcripts), mask, _expression_of(mask)) for mask in masks]
        self._hidden: dict[str, bool] = {}
        # Positions of the masks that left something out.
        self._used: set[int] = set()

    def __bool__(self) -> bool:
        return bool(self._masks)

    @property
    def unused(self) -> Mapping[int, Mask]:
        """The masks that left nothing out so far, by position; not that of the transcript."""
        return {
            place: mask
            for place, (_, mask, _) in enumerate(self._masks)
            if place not in self._used and mask.file != TRANSCRIPT
        }

    def names(self, path: str) -> bool:
        """Return whether a mask names a state path."""
        return any(files.fullmatch(path) for files, _, _ in self._masks)

    def hides(self, path: str) -> bool:
        """Return whether a mask leaves out a state path altogether, its existence too."""
        if path not in self._hidden:
            naming = self._naming(path)
            self._hidden[path] = any(not mask.keys and not mask.text for _, mask, _ in naming)
            # Beside a mask of all of it, one of a part has nothing left to leave out.
            self._used |= {place for place, _, _ in naming} if self._hidden[path] else set()
        return self._hidden[path]

    def apply(self, path: str, data: bytes) -> Masked:
        """Remove what the masks of a file hide from its content."""
        if self.hides(path):
            return Masked(None, changed=True)
        masks, result, changed = self._naming(path), data, False
        # Text first: its expressions were written for the unchanged file.
        for place, mask, pattern in masks:
            if mask.text:
                text, removed = pattern.subn(_LEFT_OUT, result.decode("utf-8", "surrogateescape"))
                result, changed = text.encode("utf-8", "surrogateescape"), changed or removed > 0
                self._used |= {place} if removed else set()
        keys = frozenset(key for _, mask, _ in masks for key in mask.keys)
        if not keys:
            return Masked(result, changed)
        try:
            result, found = _without_values(result, keys)
        except ValueError as error:
            problem = f"{path} is not JSON, so {', '.join(sorted(keys))} could not be masked in it: {error}"
            return Masked(result, changed, problem)
        self._used |= {place for place, mask, _ in masks if not found.isdisjoint(mask.keys)}
        return Masked(result, changed or bool(found))

    def _naming(self, path: str) -> list[tuple[int, Mask, Regex]]:
        return [
            (place, mask, text)
            for place, (files, mask, text) in enumerate(self._masks)
            if files.fullmatch(path)
        ]


def _files_of(mask: Mask, transcripts: Collection[str]) -> Regex:
    if mask.file == TRANSCRIPT:
        return Regex("|".join(map(re.escape, transcripts)) or "(?!)", quick=True)
    return glob_pattern(mask.file)


def _expression_of(mask: Mask) -> Regex:
    try:
        return Regex(mask.text)
    except re.error as error:
        problem = f"{mask.text!r} is not a regular expression: {error}"
        raise WorkspaceError(f"mask of {mask.file}", problem) from error


def glob_pattern(glob: str) -> Regex:
    """Return an expression for the state paths of a glob, and all below; only ``**`` crosses folders."""
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|.", glob.rstrip("/"), re.DOTALL)
    # With one star, each place of a path is tried once.
    quick = sum(token.startswith("*") for token in tokens) <= 1
    found = "".join(map(_expression, tokens))
    return Regex(f"(?:{found})(?:/.*)?", dotall=True, quick=quick)


def _expression(token: str) -> str:
    match token:
        case "**/":
            return "(?:.*/)?"
        case "**":
            return ".*"
        case "*":
            return "[^/]*"
        case "?":
            return "[^/]"
        case _ if len(token) > 1:
            inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[")
            return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
        case _:
            return re.escape(token)


def _without_values(data: bytes, keys: frozenset[str]) -> tuple[bytes, set[str]]:
    """Return JSON without the values of some keys, and which of the keys it has."""
    found: set[str] = set()

    # Pairs and not mappings: a mapping keeps only the last value of a key that is written twice.
    def leave_out(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found.update(key for key, _ in pairs if key in keys)
        kept = [(key, _LEFT_OUT if key in keys else value) for key, value in pairs]
        return {"pairs": sorted(kept, key=itemgetter(0))}

    try:
        # Numbers as they are written: a file with 0.1 and one with 0.10 differ.
        value = json.loads(
            data.decode("utf-8"), object_pairs_hook=leave_out, parse_float=lambda text: {"number": text}
        )
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not found:
        return data, found
    return json.dumps(value, separators=(",", ":")).encode(), found
