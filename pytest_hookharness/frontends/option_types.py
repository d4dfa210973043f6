"""
Values of command line options: times, whole numbers and output paths, with errors in one line.

Nothing here imports pytest: the shell command reads its options without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


class OptionError(Exception):
    """
    An option or ini key has a value that cannot be used; the message names both and says what to write.

    It is not a ValueError, as argparse would replace the message of one.
    """


def seconds(text: str, where: str) -> float:
    """Read a time such as ``500ms``, ``10s``, ``2m`` or ``10``; raise ``OptionError`` for another text."""
    found = _TIME.fullmatch(text.strip())
    if found is None or float(found[1]) == 0:
        raise OptionError(f"{where}: {text!r} is not a time above zero; write 500ms, 10s, 2m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def whole(text: str, where: str, least: int) -> int:
    """Read a whole number of ``least`` or more; raise ``OptionError``, which names ``where`` it is."""
    if not re.fullmatch(r"-?\d+", text.strip()) or int(text) < least:
        raise OptionError(f"{where}: {text!r} is not a whole number of {least} or more")
    return int(text)


def whole_number(option: str, least: int) -> Callable[[str], int]:
    """Return the type of an option for argparse: a whole number of at least a given size."""
    return lambda text: whole(text, option, least)


def make_folder(named: str, option: str, *, below: Path, mode: int = 0o777) -> Path:
    """
    Make the folder that an option names, check that files can be created in it, and return its full name.

    Workers of xdist inherit the options and may have another working folder, so the name is made absolute.

    Raises:
        OptionError: The folder cannot be made or written.
    """
    from tempfile import TemporaryFile

    if not named.strip():
        raise OptionError(f"{option}: names no folder; name one, it is made if it does not exist")
    folder = below / named
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=mode)
        TemporaryFile(dir=folder).close()
    except OSError as error:
        what = "written" if folder.is_dir() else "made"
        raise OptionError(
            f"{option}: {folder} cannot be {what} ({error.strerror}); name a folder that can be written"
        ) from None
    return folder


def require_new(file: Path, option: str) -> None:
    """
    Check that an output file does not exist yet and can be created, before any work is done for it.

    Raises:
        OptionError: The file exists, or cannot be created.
    """
    if file.exists() or file.is_symlink():
        raise OptionError(
            f"{option}: {file} exists already and is never overwritten; name another file, or move it away"
        )
    if not file.parent.is_dir():
        raise OptionError(f"{option}: {file.parent} is not a folder; make it, or name a file in another one")
    make_folder(str(file.parent), option, below=Path.cwd())
