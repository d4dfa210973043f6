"""
Changes of files as hosts write them for hooks, and outputs as Gemini CLI and Qwen Code do.

The form of whole diffs was recorded of Gemini CLI 0.61.0 for a new file; Qwen Code has the same form.
"""

from __future__ import annotations

import difflib
import posixpath
from collections.abc import Iterable, Iterator
from typing import TypeAlias

from pytest_hookharness.model.moves import Performance, ToolResult
from pytest_hookharness.model.protocol import Json

Opcode: TypeAlias = tuple[str, int, int, int, int]
_RULE = "=" * 67


def write_diff(name: str, old: str, new: str, labels: tuple[str, str]) -> str:
    """Return the change of a file as a patch, with labels for both versions."""
    head = [f"Index: {name}", _RULE, f"--- {name}\t{labels[0]}", f"+++ {name}\t{labels[1]}"]
    return "\n".join([*head, *_hunks(old.splitlines(), new.splitlines())]) + "\n"


def _hunks(before: list[str], after: list[str]) -> Iterator[str]:
    matcher = difflib.SequenceMatcher(a=before, b=after, autojunk=False)
    for group in matcher.get_grouped_opcodes(4):
        _, old_first, _, new_first, _ = group[0]
        _, _, old_last, _, new_last = group[-1]
        olds, news = old_last - old_first, new_last - new_first
        starts = (old_first + bool(olds), new_first + bool(news))
        yield f"@@ -{starts[0]},{olds} +{starts[1]},{news} @@"
        yield from hunk_lines(group, before, after)


def hunk_lines(group: Iterable[Opcode], before: list[str], after: list[str]) -> Iterator[str]:
    """Yield the lines of a group of opcodes of ``difflib``, as patches mark them."""
    for tag, i1, i2, j1, j2 in group:
        if tag == "equal":
            yield from (f" {line}" for line in before[i1:i2])
            continue
        yield from (f"-{line}" for line in before[i1:i2])
        yield from (f"+{line}" for line in after[j1:j2])


def count_changes(old: str, new: str) -> dict[str, Json]:
    """Return how many lines and characters the model changed; the user has changed none."""
    lines = list(difflib.ndiff(old.splitlines(), new.splitlines()))
    added = [line[2:] for line in lines if line.startswith("+ ")]
    removed = [line[2:] for line in lines if line.startswith("- ")]
    counts = {
        "added_lines": len(added),
        "removed_lines": len(removed),
        "added_chars": sum(map(len, added)),
        "removed_chars": sum(map(len, removed)),
    }
    model: dict[str, Json] = {f"model_{name}": number for name, number in counts.items()}
    return {**model, **{f"user_{name}": 0 for name in counts}}


def describe_change(path: str, performance: Performance, *, replaced: bool) -> dict[str, Json]:
    """Return what Gemini CLI and Qwen Code say about a file that they wrote, or replaced a passage in."""
    labels = ("Current", "Proposed") if replaced else ("Original", "Written")
    old, new, name = performance.original or "", performance.content or "", posixpath.basename(path)
    return {
        "fileDiff": write_diff(name, old, new, labels),
        "fileName": name,
        "filePath": path,
        "originalContent": old,
        "newContent": new,
        "diffStat": count_changes(old, new),
    }


def result_with_display(text: str, display: Json) -> ToolResult:
    """Return a result as Gemini CLI and Qwen Code write it: a text for the model, and one for the user."""
    return ToolResult(text=text, response={"llmContent": text, "returnDisplay": display})


def join_output(performance: Performance) -> str:
    """Return both outputs of a command as Gemini CLI and Qwen Code join them."""
    texts = (performance.stdout, performance.stderr)
    return "\n".join(text.rstrip("\n") for text in texts if text.strip())
