"""Masks: which parts of a file's content the author declared irrelevant."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from typing import Any

from pytest_hookharness.execution.paths import WorkspaceError
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.scenario import Mask

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
    """
    Records where masks hid a difference: the content differed, but what the masks left of it did not.

    Attributes:
        paths: State paths where that happened, whatever became of them later.
    """

    def __init__(self) -> None:
        self.paths: set[str] = set()
        self._seen: dict[tuple[str, str], str] = {}

    def note(self, path: str, whole: str, left: str) -> None:
        """Record the digests of a file's whole content and of what the masks left of it."""
        if self._seen.setdefault((path, left), whole) != whole:
            self.paths.add(path)


class Masking:
    """The masks of a scenario, compiled."""

    def __init__(self, masks: Sequence[Mask], transcripts: Collection[str] = ()) -> None:
        self._masks = [(_files_of(mask, transcripts), mask, _expression_of(mask)) for mask in masks]

    def __bool__(self) -> bool:
        return bool(self._masks)

    def naming(self, path: str) -> list[tuple[Mask, re.Pattern[str]]]:
        """List the masks that name a state path."""
        return [(mask, text) for files, mask, text in self._masks if files.fullmatch(path)]

    def apply(self, path: str, data: bytes) -> Masked:
        """Remove what the masks of a file hide from its content."""
        masks = self.naming(path)
        if not masks:
            return Masked(data)
        if any(not mask.keys and not mask.text for mask, _ in masks):
            return Masked(None, changed=True)
        result, changed = data, False
        # Text first: its expressions were written for the unchanged file.
        for mask, pattern in masks:
            if mask.text:
                result, removed = _without_text(result, pattern)
                changed = changed or removed
        keys = frozenset(key for mask, _ in masks for key in mask.keys)
        if not keys:
            return Masked(result, changed)
        try:
            result, removed = _without_values(result, keys)
        except ValueError as error:
            problem = f"{path} is not JSON, so {', '.join(sorted(keys))} could not be masked in it: {error}"
            return Masked(result, changed, problem)
        return Masked(result, changed or removed)


def _files_of(mask: Mask, transcripts: Collection[str]) -> re.Pattern[str]:
    if mask.file == TRANSCRIPT:
        return re.compile("|".join(map(re.escape, transcripts)) or "(?!)")
    return glob_pattern(mask.file)


def _expression_of(mask: Mask) -> re.Pattern[str]:
    try:
        return re.compile(mask.text)
    except re.error as error:
        raise WorkspaceError(
            f"mask of {mask.file}", f"{mask.text!r} is not a regular expression: {error}"
        ) from error


def glob_pattern(glob: str) -> re.Pattern[str]:
    """Return a glob over state paths as a regular expression: only ``**`` crosses folders."""
    tokens = re.findall(r"\*\*/|\*\*|\*|\?|\[!?\]?[^]/]*\]|.", glob, re.DOTALL)
    return re.compile("".join(map(_expression, tokens)), re.DOTALL)


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


def _without_text(data: bytes, pattern: re.Pattern[str]) -> tuple[bytes, bool]:
    text, number = pattern.subn(_LEFT_OUT, data.decode("utf-8", "surrogateescape"))
    return text.encode("utf-8", "surrogateescape"), number > 0


def _without_values(data: bytes, keys: frozenset[str]) -> tuple[bytes, bool]:
    found = 0

    # Pairs and not mappings: a mapping keeps only the last value of a key that is written twice.
    def leave_out(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        found += sum(key in keys for key, _ in pairs)
        kept = [(key, _LEFT_OUT if key in keys else value) for key, value in pairs]
        return {"pairs": sorted(kept, key=_by_key)}

    try:
        value = json.loads(data.decode("utf-8"), object_pairs_hook=leave_out, parse_float=_number)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not found:
        return data, False
    return json.dumps(value, separators=(",", ":")).encode(), True


def _by_key(pair: tuple[str, Any]) -> str:
    return pair[0]


def _number(text: str) -> dict[str, str]:
    # As it is written: a file with 0.1 and one with 0.10 differ.
    return {"number": text}
