"""
Times in files that do not change.

A hook may compare a time that it wrote once with the clock. Then passing time ends a loop that repeats
exactly, so the prober makes these times older.
"""

from __future__ import annotations

from pytest_hookharness.judging.state_diff.file_series import LARGEST, Files, text_of
from pytest_hookharness.judging.state_diff.number_formats import SessionClock
from pytest_hookharness.judging.state_diff.timestamps import age_timestamps, timestamps_in
from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class FileTimestamps:
    """The times near the clock in some files, given by path and text."""

    texts: tuple[tuple[str, str], ...]
    clock: SessionClock

    def aged(self, seconds: float) -> Files:
        """Return the files with all their times made older, by seconds."""
        return {path: age_timestamps(text, seconds, self.clock).encode() for path, text in self.texts}


def find_timestamps(files: Files, clock: SessionClock) -> FileTimestamps:
    """Find all times near the clock, except in binary files and in files that are too large to rewrite."""
    texts: list[tuple[str, str]] = []
    for path, content in sorted(files.items()):
        text = text_of(content) if content is not None and len(content) <= LARGEST else None
        if text is not None and any(timestamps_in(text, clock)):
            texts.append((path, text))
    return FileTimestamps(tuple(texts), clock)


def equal_except_timestamps(one: bytes | None, other: bytes | None, clock: SessionClock) -> bool:
    """Return whether two contents are equal except for times near the clock."""
    first, second = (text_of(content) if content is not None else None for content in (one, other))
    if first is None or second is None:
        return one == other
    return _without_stamps(first, clock) == _without_stamps(second, clock)


def _without_stamps(text: str, clock: SessionClock) -> list[str]:
    ends = [
        0,
        *(place for timestamp in timestamps_in(text, clock) for place in (timestamp.start, timestamp.end)),
        len(text),
    ]
    return [text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True)]
