"""
Keeping what a guard knows: as JSON, and back.

Pure.

Guarding: the detectors in front of an agent, call by call.

Pure. A refusal is an answer: after it counting begins anew, so that the guard never
keeps itself alive, and an agent that makes the same call once more is let through.

The files that an agent edits: whether it knows them, and how often it failed.

Pure. What a file holds now is told by whoever asks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pytest_hookharness.judging.detectors.messages import Limits, Refusal, preview, refusal_for
from pytest_hookharness.judging.detectors.signatures import (
    ActionKind,
    ActionSignature,
    digest,
    file_of,
    kind_of,
)
from pytest_hookharness.judging.detectors.window import ErrorStreak, Memory, Repeats
from pytest_hookharness.model.actions import Action, ActionResult
from pytest_hookharness.model.protocol import Json, Payload

_WARNED, _READ_FIRST, _STOPPED = 1, 2, 3
# The passage that an edit looks for, by the names that hosts give it.
_PASSAGES = ("old_string", "old_str", "search")
_MOST_FILES = 16


@dataclass(frozen=True, slots=True)
class KnownFile:
    """
    What an agent knows of one file.

    Attributes:
        path: The file, as the agent names it.
        seen: Digest of its content when the agent last read or edited it; empty if that is not known.
        failures: Edits that failed since one succeeded.
        read: Whether it was read since the newest of them.
    """

    path: str
    seen: str = ""
    failures: int = 0
    read: bool = True


@dataclass(frozen=True, slots=True)
class KnownFiles:
    """
    The files that an agent read or edited lately, the newest last.
    """

    known: tuple[KnownFile, ...] = ()

    def of(self, path: str) -> KnownFile:
        """
        What is known of one file.
        """
        return next((file for file in self.known if file.path == path), KnownFile(path))

    def follow(self, kind: ActionKind, path: str, outcome: ActionResult, content: str | None) -> KnownFiles:
        """
        The same after an action on a file, which now has this content.
        """
        file, seen = self.of(path), "" if content is None else digest(content)
        match kind, outcome:
            case ActionKind.READ, ActionResult.DONE:
                return self._with(replace(file, seen=seen, read=True))
            case ActionKind.EDIT, ActionResult.DONE:
                return self._with(KnownFile(path, seen))
            case ActionKind.EDIT, ActionResult.FAILED:
                return self._with(replace(file, failures=min(file.failures + 1, _STOPPED), read=False))
            case _:
                return self

    def _with(self, file: KnownFile) -> KnownFiles:
        others = [other for other in self.known if other.path != file.path]
        return KnownFiles((*others, file)[-_MOST_FILES:])

    def warn(self, path: str, content: str | None) -> Refusal | None:
        """
        What is to be said after an edit that failed for the first time.
        """
        if self.of(path).failures != _WARNED:
            return None
        return Refusal(
            why=f"the edit of {path} failed, most likely because it is not what it was when it was read.",
            step=f"read {path} before the next try, and take the passage to replace from what it holds now.",
            file=path,
            preview=preview(content or ""),
        )

    def refuse(self, path: str, arguments: Payload, content: str | None) -> tuple[KnownFiles, Refusal | None]:
        """
        Whether an edit is to be refused, and what is known after that.
        """
        file = self.of(path)
        if file.failures >= _STOPPED:
            reason = Refusal(
                why=f"the last {file.failures} edits of {path} failed.",
                step=f"stop editing {path}; say what should be changed, what it holds, and what went wrong.",
                file=path,
                preview=preview(content or ""),
            )
            return self._with(KnownFile(path, file.seen)), reason
        if file.failures == _READ_FIRST and not file.read:
            reason = Refusal(
                why=f"two edits of {path} failed, and it was not read since.",
                step=f"read {path} now; then the next edit is let through.",
                file=path,
                preview=preview(content or ""),
            )
            return self, reason
        if content is not None and file.seen not in ("", digest(content)) and _would_harm(arguments, content):
            reason = Refusal(
                why=f"{path} changed since you last read it, so this edit is not about what it holds now.",
                step=f"take the passage from the file as it is now; read {path} if it is longer than this.",
                file=path,
                preview=preview(content),
            )
            # The reason is the read that was missing.
            return self._with(replace(file, seen=digest(content), read=True)), reason
        return self, None


def _would_harm(arguments: Payload, content: str) -> bool:
    # An edit of a passage that is still there does no harm; a whole new text would undo what nobody saw.
    passages = [given for name in _PASSAGES if isinstance(given := arguments.get(name), str)]
    return not passages or any(passage not in content for passage in passages)


@dataclass(frozen=True, slots=True)
class OnlineDetector:
    """
    All that a guard keeps of one agent.

    Attributes:
        memory: The calls.
        files: The files.
    """

    memory: Memory = Memory()
    files: KnownFiles = KnownFiles()

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
        refusal = refusal_for(loop)
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


def to_json(watch: OnlineDetector) -> Payload:
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


def from_json(kept_workspace: Json) -> OnlineDetector:
    """
    The same from JSON.

    Raises:
        Malformed: It is not what `freeze` gives.
    """
    try:
        match kept_workspace:
            case {"recent": recent, "runs": runs, "streak": [error, count, text], "files": files}:
                laps = Repeats(tuple(_sign(row) for row in _rows(recent)), tuple(map(_number, _rows(runs))))
                streak = ErrorStreak(_text(error), _number(count), _text(text))
                return OnlineDetector(
                    Memory(laps, streak), KnownFiles(tuple(_file(row) for row in _rows(files)))
                )
            case _:
                raise Malformed("it has not the keys recent, runs, streak and files")
    except TypeError as error:
        raise Malformed(str(error)) from error


def _sign(row: Json) -> ActionSignature:
    cells = [_text(cell) for cell in _rows(row)]
    if len(cells) != len(_SIGN):
        raise TypeError("a sign has four texts")
    return ActionSignature(*cells)


def _file(row: Json) -> KnownFile:
    match row:
        case [path, seen, failures, bool(read)]:
            return KnownFile(_text(path), _text(seen), _number(failures), read)
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
