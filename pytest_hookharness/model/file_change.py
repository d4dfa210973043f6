"""Changes of files that a fix makes."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """One file of a project before and after a fix; without contents and mode if it does not exist."""

    file: str
    before: bytes | None
    after: bytes
    mode_before: int
    mode: int
