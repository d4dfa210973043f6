"""
This module is concerned with promises about the workspace at the end.

Middle floor: judging. Pure: texts and entries are handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from pytest_hookharness.model.expectations import FileExpectations
from pytest_hookharness.model.trace import Entry
from pytest_hookharness.model.verdicts import Violation


def broken_files(
    expected: FileExpectations | None,
    *,
    initial: Mapping[str, Entry],
    final: Mapping[str, Entry],
    final_text: Callable[[str], str | None],
) -> Iterator[Violation]:
    """
    Files that are not as promised.
    """
    if expected is None:
        return
    for file, text in expected.equal.items():
        seen = final_text(file)
        if seen != text:
            difference = "no such file" if seen is None else _first_difference(text, seen)
            yield _violation(f"equal.{file}", f"{file} equal to the given text", difference)
    for file, part in expected.contain.items():
        seen = final_text(file)
        if seen is None or part not in seen:
            words = "no such file" if seen is None else f"{len(seen)} characters without it"
            yield _violation(f"contain.{file}", f"{file} with {part!r}", words)
    for index, file in enumerate(expected.absent):
        if final_text(file) is not None or _below(final, file):
            yield _violation(f"absent[{index}]", f"no {file}", "it is there")
    for index, file in enumerate(expected.unchanged):
        seen = _changed(_below(initial, file), _below(final, file))
        if seen:
            yield _violation(f"unchanged[{index}]", f"{file} as it was", seen)


def _violation(path: str, expected: str, seen: str) -> Violation:
    return Violation(path=f"expect.files.{path}", expected=expected, seen=seen)


def _below(entries: Mapping[str, Entry], file: str) -> dict[str, Entry]:
    path = f"workspace/{file.strip('/')}".removesuffix("/.")
    return {name: entry for name, entry in entries.items() if name == path or name.startswith(f"{path}/")}


def _changed(before: Mapping[str, Entry], after: Mapping[str, Entry]) -> str:
    if not before:
        # A promise about a file that never was would be kept by every hook.
        return "it was not there at the beginning"
    for name in sorted(before.keys() | after.keys()):
        short = name.removeprefix("workspace/")
        if name not in after:
            return f"{short} is gone"
        if name not in before:
            return f"{short} is new"
        if before[name] != after[name]:
            return f"{short} differs"
    return ""


def _first_difference(expected: str, seen: str) -> str:
    wanted, found = expected.splitlines(keepends=True), seen.splitlines(keepends=True)
    for number, (one, other) in enumerate(zip(wanted, found, strict=False), 1):
        if one != other:
            return f"line {number} is {other!r}, not {one!r}"
    shorter = min(len(wanted), len(found))
    if len(found) > shorter:
        return f"line {shorter + 1} is too many: {found[shorter]!r}"
    return f"it ends before line {shorter + 1}: {wanted[shorter]!r}"
