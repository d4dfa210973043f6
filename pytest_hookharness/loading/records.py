"""
This module is concerned with records: JSON objects from files that come from anywhere.

Middle floor: loading. A file holds one JSON list or one JSON value on each line; a folder holds one in each
of its files. Size, length of a line, depth and number are bounded. What cannot be read is counted and
left out; it is never guessed.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from pytest_hookharness.model.protocol import Json

_MEGA = 1 << 20
MOST_BYTES = 512 * _MEGA
MOST_OF_LINE = 32 * _MEGA
MOST_FILES = 100_000
MOST_DEPTH = 100
_SCANNED_AT_ONCE = 64 * 1024


class Unreadable(ValueError):
    """
    A file or folder that cannot be read at all.
    """


@dataclass(slots=True)
class Records:
    """
    The records of one file or folder.

    Attributes:
        path: Where they are.
        malformed: What was left out, by the reason, with how often. It is complete once all was read.
    """

    path: Path
    malformed: Counter[str] = field(default_factory=Counter)

    def read(self) -> Iterator[tuple[str, Json]]:
        """
        Each record with its place in words.

        Raises:
            Unreadable: There is no such file, it is of another kind, or it is too large.
        """
        try:
            if self.path.is_dir():
                yield from self._folder()
                return
            with _open(self.path) as file:
                yield from self._listed(file) if _begins_a_list(file) else self._lines(file)
        except OSError as error:
            raise Unreadable(f"{self.path}: {error.strerror or error}") from error

    def _folder(self) -> Iterator[tuple[str, Json]]:
        names = sorted(entry.name for entry in os.scandir(self.path) if entry.name.endswith(".json"))
        if not names:
            raise Unreadable(
                f"{self.path}: the folder holds no .json files; name a transcript, or its events"
            )
        if len(names) > MOST_FILES:
            raise Unreadable(
                f"{self.path}: the folder holds {len(names)} files; at most {MOST_FILES} are read"
            )
        for name in names:
            try:
                with _open(self.path / name, follow=False, most=MOST_OF_LINE) as file:
                    text = file.read(MOST_OF_LINE + 1)
            except (OSError, Unreadable):
                self.malformed["a file that cannot be read"] += 1
                continue
            yield from self._parsed(text, name)

    def _lines(self, file: BinaryIO) -> Iterator[tuple[str, Json]]:
        number = 0
        while line := file.readline(MOST_OF_LINE + 1):
            number += 1
            if len(line) > MOST_OF_LINE:
                self.malformed["a line that is too long"] += 1
                while line and not line.endswith(b"\n"):
                    line = file.readline(_SCANNED_AT_ONCE)
            elif line.strip():
                yield from self._parsed(line, f"line {number}")

    def _listed(self, file: BinaryIO) -> Iterator[tuple[str, Json]]:
        text = file.read(4 * MOST_OF_LINE + 1)
        if len(text) > 4 * MOST_OF_LINE:
            raise Unreadable(f"{self.path}: a JSON list of more than {4 * MOST_OF_LINE >> 20} MB is not read")
        for _, value in self._parsed(text, ""):
            for number, item in enumerate(value if isinstance(value, list) else [value], 1):
                yield f"event {number}", item

    def _parsed(self, text: bytes, place: str) -> Iterator[tuple[str, Json]]:
        try:
            value: Json = json.loads(text.decode("utf-8-sig", "replace"))
        except RecursionError:
            self.malformed["JSON that is too deep"] += 1
        except ValueError:
            self.malformed["no JSON"] += 1
        else:
            if _depth_is_above(value, MOST_DEPTH):
                self.malformed["JSON that is too deep"] += 1
            else:
                yield place, value


def _open(path: Path, *, follow: bool = True, most: int = MOST_BYTES) -> BinaryIO:
    # A pipe without a writer would never open, and a device never end.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    file = os.fdopen(os.open(path, flags), "rb")
    found = os.fstat(file.fileno())
    if stat.S_ISREG(found.st_mode) and found.st_size <= most:
        return file
    file.close()
    if not stat.S_ISREG(found.st_mode):
        raise Unreadable(f"{path}: is no ordinary file; name a transcript, or a folder of events")
    raise Unreadable(f"{path}: has {found.st_size >> 20} MB; at most {most >> 20} MB are read")


def _begins_a_list(file: BinaryIO) -> bool:
    beginning = file.read(_SCANNED_AT_ONCE).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(0)
    return beginning.startswith(b"[")


def _depth_is_above(value: Json, most: int) -> bool:
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
