"""
Keeping what a guard knows: as JSON, and back.

Pure.

Guarding: the detectors in front of an agent, call by call.

Pure. A refusal is an answer: after it counting begins anew, so that the guard never
keeps itself alive, and an agent that makes the same call once more is let through.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_hookharness.judging.detectors.messages import Limits, Refusal, foreseen, preview
from pytest_hookharness.judging.detectors.repeated_files import Files, Known
from pytest_hookharness.judging.detectors.signatures import ActionKind, Sign, file_of, kind_of
from pytest_hookharness.judging.detectors.window import Laps, Memory, Streak
from pytest_hookharness.model.actions import Action
from pytest_hookharness.model.protocol import Json, Payload


@dataclass(frozen=True, slots=True)
class OnlineDetector:
    """
    All that a guard keeps of one agent.

    Attributes:
        memory: The calls.
        files: The files.
    """

    memory: Memory = Memory()
    files: Files = Files()

    def part(self) -> OnlineDetector:
        """
        What is kept when somebody else spoke.
        """
        return replace(self, memory=Memory())

    def before(
        self, action: Action, content: str | None, limits: Limits
    ) -> tuple[OnlineDetector, Refusal | None]:
        """
        Whether a call is to be refused, and what is kept after that.

        Args:
            action: The call, whose result nobody knows yet.
            content: What the file that it is about holds; ``None`` if there is none, or that is not known.
            limits: When to speak.
        """
        path, edits = file_of(action.arguments), kind_of(action.tool, action.arguments) is ActionKind.EDIT
        if path and edits:
            files, refusal = self.files.refuse(path, action.arguments, content)
            if refusal is not None:
                return OnlineDetector(Memory(), files), refusal
        loop = self.memory.foresee(action, limits)
        if loop is None:
            return self, None
        refusal = foreseen(loop)
        if path and edits:
            refusal = replace(refusal, file=path, preview=preview(content or ""))
        return self.part(), refusal

    def after(
        self, action: Action, content: str | None, limits: Limits
    ) -> tuple[OnlineDetector, Refusal | None]:
        """
        What is kept after a call, and what is to be said about it.
        """
        memory = self.memory.follow(action, limits).bounded(limits)
        path, kind = file_of(action.arguments), kind_of(action.tool, action.arguments)
        if not path:
            return replace(self, memory=memory), None
        files = self.files.follow(kind, path, action.outcome, content)
        warning = files.warn(path, content) if files is not self.files and kind is ActionKind.EDIT else None
        return OnlineDetector(memory, files), warning


_SIGN = ("deed", "result", "error", "said")


class Malformed(ValueError):
    """
    JSON of another form than it should have.
    """


def freeze(watch: OnlineDetector) -> Payload:
    """
    All of it, as JSON.
    """
    memory = watch.memory
    return {
        "recent": [[getattr(sign, name) for name in _SIGN] for sign in memory.repetitions.recent],
        "runs": list(memory.repetitions.runs),
        "streak": [memory.streak.error, memory.streak.count, memory.streak.text],
        "files": [[file.path, file.seen, file.failures, file.read] for file in watch.files.known],
    }


def thaw(kept_workspace: Json) -> OnlineDetector:
    """
    The same from JSON.

    Raises:
        Malformed: It is not what `freeze` gives.
    """
    try:
        match kept_workspace:
            case {"recent": recent, "runs": runs, "streak": [error, count, text], "files": files}:
                laps = Laps(tuple(_sign(row) for row in _rows(recent)), tuple(map(_number, _rows(runs))))
                streak = Streak(_text(error), _number(count), _text(text))
                return OnlineDetector(Memory(laps, streak), Files(tuple(_file(row) for row in _rows(files))))
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
