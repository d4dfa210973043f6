"""
This module is concerned with replacing: a file of the person's that is written anew, whole or not at all.

Top floor.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace_file(file: Path, data: bytes, mode: int | None = None) -> None:
    """
    Put bytes in the place of a file, all at once; a link stays one.

    Args:
        file: The file.
        data: What is put there.
        mode: Its permission bits; ``None`` for those that it has.

    Raises:
        OSError: It cannot be written, and is as it was.
    """
    real = file.resolve()
    bits = real.stat().st_mode & 0o7777 if mode is None else mode
    number, name = tempfile.mkstemp(dir=real.parent, prefix=f".{real.name}-")
    fresh = Path(name)
    try:
        with os.fdopen(number, "wb") as written:
            written.write(data)
            written.flush()
            os.fsync(number)
        fresh.chmod(bits)
        fresh.replace(real)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
