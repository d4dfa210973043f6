"""Output files: replaced as a whole, or created where none was."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from io import FileIO
from pathlib import Path

_LONGEST = 80


def replace_file(file: Path, data: bytes, mode: int | None = None) -> None:
    """
    Replace the contents of a file in one step; a symbolic link stays one.

    Args:
        file: The file.
        data: The new contents.
        mode: Its permission bits; ``None`` for those that it has.

    Raises:
        OSError: It cannot be written, and is unchanged.
    """
    real = file.resolve()
    bits = real.stat().st_mode & 0o7777 if mode is None else mode
    number, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-")
    fresh = Path(name)
    try:
        with os.fdopen(number, "wb") as written:
            written.write(data)
            written.flush()
            # Without it, a crash of the machine after the rename may leave an empty file.
            os.fsync(number)
        fresh.chmod(bits)
        fresh.replace(real)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise


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


def write_new(path: Path, text: str) -> None:
    """
    Create a file with a text.

    Raises:
        FileExistsError: The file exists; somebody may have edited it.
    """
    with path.open("x", encoding="utf-8") as file:
        file.write(text)
