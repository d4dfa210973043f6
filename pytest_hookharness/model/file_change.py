"""Changes of files that a fix makes."""

from __future__ import annotations

from pytest_hookharness.model.fast_dataclass import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """
    One file before and after a fix.

    Attributes:
        file: Its path in the project.
        before: Its contents; ``None`` if it does not exist.
        mode_before: Its permission bits; 0 if it does not exist.
        mode: Its new permission bits.
    """

    file: str
    before: bytes | None
    after: bytes
    mode_before: int
    mode: int
