"""
This module is concerned with keeping what a guard knows: as JSON, and back.

Middle floor: judging. Pure.
"""

from __future__ import annotations

from collections.abc import Sequence

from pytest_hookharness.judging.detectors.files import Files, Known
from pytest_hookharness.judging.detectors.guarding import Watch
from pytest_hookharness.judging.detectors.laps import Laps
from pytest_hookharness.judging.detectors.memory import Memory, Streak
from pytest_hookharness.judging.detectors.signs import Sign
from pytest_hookharness.model.protocol import Json, Payload

_SIGN = ("deed", "result", "error", "said")


class Malformed(ValueError):
    """
    JSON of another form than it should have.
    """


def freeze(watch: Watch) -> Payload:
    """
    All of it, as JSON.
    """
    memory = watch.memory
    return {
        "recent": [[getattr(sign, name) for name in _SIGN] for sign in memory.laps.recent],
        "runs": list(memory.laps.runs),
        "streak": [memory.streak.error, memory.streak.count, memory.streak.text],
        "files": [[file.path, file.seen, file.failures, file.read] for file in watch.files.known],
    }


def thaw(kept: Json) -> Watch:
    """
    The same from JSON.

    Raises:
        Malformed: It is not what `freeze` gives.
    """
    try:
        match kept:
            case {"recent": recent, "runs": runs, "streak": [error, count, text], "files": files}:
                laps = Laps(tuple(_sign(row) for row in _rows(recent)), tuple(map(_number, _rows(runs))))
                streak = Streak(_text(error), _number(count), _text(text))
                return Watch(Memory(laps, streak), Files(tuple(_file(row) for row in _rows(files))))
            case _:
                raise Malformed("it has not the keys recent, runs, streak and files")
    except TypeError as error:
        raise Malformed(str(error)) from error


def _sign(row: Json) -> Sign:
    cells = [_text(cell) for cell in _rows(row)]
    if len(cells) != len(_SIGN):
        raise TypeError("a sign has four texts")
    return Sign(*cells)


def _file(row: Json) -> Known:
    match row:
        case [path, seen, failures, bool(read)]:
            return Known(_text(path), _text(seen), _number(failures), read)
        case _:
            raise TypeError("a file has a path, a digest, a number and a flag")


def _rows(value: Json) -> Sequence[Json]:
    if isinstance(value, Sequence) and not isinstance(value, str):
        return value
    raise TypeError("a list was expected")


def _text(value: Json) -> str:
    if isinstance(value, str):
        return value
    raise TypeError("a text was expected")


def _number(value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise TypeError("a number was expected")
