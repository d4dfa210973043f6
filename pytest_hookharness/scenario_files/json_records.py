"""
JSON records from untrusted files, such as transcripts.

A file contains one JSON list, or one JSON value per line; a folder contains one value in each ``.json``
file. Size, length of a line, depth and number are limited. Values that cannot be read are counted and
left out.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import BinaryIO

from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.protocol import Json

_MEGA = 1 << 20
MAX_BYTES = 512 * _MEGA
MAX_LINE = 32 * _MEGA
MAX_FILES = 100_000
MAX_DEPTH = 100
_CHUNK = 64 * 1024
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_SPACE = " \t\n\r"
_DECODER = json.JSONDecoder()


class UnreadableRecords(ValueError):
    """A file or folder that cannot be read."""


@dataclass(slots=True)
class Records:
    """
    The records of one file or folder.

    ``malformed`` counts the values that were left out, by reason; it is complete after ``read`` has ended.
    """

    path: Path
    malformed: Counter[str] = field(default_factory=Counter)

    def read(self) -> Iterator[tuple[str, Json]]:
        """
        Yield each record with its place in words.

        Raises:
            UnreadableRecords: The file does not exist, is of another kind, or is too large.
        """
        try:
            if self.path.is_dir():
                yield from self._folder()
                return
            with _open(self.path) as file:
                yield from self._list(file) if _starts_with_list(file) else self._lines(file)
        except OSError as error:
            raise UnreadableRecords(f"{self.path}: {error.strerror or error}") from error

    def _folder(self) -> Iterator[tuple[str, Json]]:
        names = sorted(entry.name for entry in os.scandir(self.path) if entry.name.endswith(".json"))
        if not names:
            raise UnreadableRecords(
                f"{self.path}: the folder contains no .json files; name a transcript, or its events"
            )
        if len(names) > MAX_FILES:
            raise UnreadableRecords(
                f"{self.path}: the folder contains {len(names)} files; at most {MAX_FILES} are read"
            )
        for name in names:
            try:
                with _open(self.path / name, follow=False, most=MAX_LINE) as file:
                    text = file.read(MAX_LINE + 1)
            except (OSError, UnreadableRecords):
                self.malformed["a file that cannot be read"] += 1
                continue
            for value in self._parsed(text):
                yield name, value

    def _lines(self, file: BinaryIO) -> Iterator[tuple[str, Json]]:
        number = 0
        while line := file.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                self.malformed["a line that is too long"] += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(_CHUNK)
            elif not line.isspace():
                for value in self._parsed(line):
                    yield f"line {number}", value

    def _list(self, file: BinaryIO) -> Iterator[tuple[str, Json]]:
        text = file.read(4 * MAX_LINE + 1)
        if len(text) > 4 * MAX_LINE:
            raise UnreadableRecords(
                f"{self.path}: a JSON list of more than {4 * MAX_LINE >> 20} MB is not read"
            )
        for value in self._parsed(text):
            for number, item in enumerate(value if isinstance(value, list) else [value], 1):
                yield f"event {number}", item

    def _parsed(self, text: bytes) -> tuple[()] | tuple[Json]:
        """Return the value of a text, or nothing if it is left out."""
        plain = text.removeprefix(_BYTE_ORDER_MARK).decode("utf-8", "replace").strip(_SPACE)
        try:
            value, end = _DECODER.raw_decode(plain)
        except RecursionError:
            self.malformed["JSON that is too deep"] += 1
        except ValueError:
            self.malformed["not JSON"] += 1
        else:
            # A text with few brackets cannot be deep, and counting them is quick.
            if end != len(plain):
                self.malformed["not JSON"] += 1
            elif text.count(b"[") + text.count(b"{") > MAX_DEPTH and _is_deeper_than(value, MAX_DEPTH):
                self.malformed["JSON that is too deep"] += 1
            else:
                return (value,)
        return ()


def _open(path: Path, *, follow: bool = True, most: int = MAX_BYTES) -> BinaryIO:
    # Opening a pipe without a writer would block, and a device may be endless.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    file = os.fdopen(os.open(path, flags), "rb")
    found = os.fstat(file.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size <= most:
        return file
    file.close()
    if not stat.S_ISREG(found.st_mode):
        raise UnreadableRecords(f"{path}: is not a regular file; name a transcript, or a folder of events")
    raise UnreadableRecords(f"{path}: has {found.st_size >> 20} MB; at most {most >> 20} MB are read")


def _starts_with_list(file: BinaryIO) -> bool:
    beginning = file.read(_CHUNK).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(0)
    return beginning.startswith(b"[")


def _is_deeper_than(value: Json, most: int) -> bool:
    level: list[Json] = [value]
    for _ in range(most):
        level = [
            inner
            for outer in level
            if isinstance(outer, (list, dict))
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True
