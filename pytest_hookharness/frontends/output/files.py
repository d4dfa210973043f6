"""Output files that are created where none was."""

from __future__ import annotations

import hashlib
import re
from io import FileIO
from pathlib import Path

_LONGEST = 80


def create_in(folder: Path, item: str, suffix: str) -> FileIO:
    """Create a file in a folder, named after a test item; files of other items or earlier runs stay."""
    readable = re.sub(r"[^A-Za-z0-9]+", "-", item)[-_LONGEST:].strip("-")
    # The digest keeps apart items whose readable names are equal.
    name = f"{readable}-{hashlib.sha256(item.encode()).hexdigest()[:8]}"
    path, number = folder / f"{name}{suffix}", 1
    while True:
        try:
            return path.open("xb", buffering=0)
        except FileExistsError:
            number += 1
            path = folder / f"{name}-{number}{suffix}"


def write_all(file: FileIO, data: bytes) -> None:
    """Write all bytes to an unbuffered file, which may take only a part of them at a time."""
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
