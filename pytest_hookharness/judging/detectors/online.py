"""
The online detector: it refuses the call that would close a loop, and knows the files that an agent edits.

After a refusal counting starts again, so that the refusals do not keep a loop alive, and an agent that
repeats its call once is allowed to. The caller reads the files; nothing here does.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from pytest_hookharness.judging.detectors.messages import LoopLimits, Refusal, preview, refusal_for
from pytest_hookharness.judging.detectors.signatures import (
    ActionKind,
    ActionSignature,
    digest,
    file_of,
    kind_of,
)
from pytest_hookharness.judging.detectors.streams import ErrorStreak, Memory, Repeats
from pytest_hookharness.model.actions import Action, ActionResult
from pytest_hookharness.model.fast_dataclass import dataclass

if TYPE_CHECKING:
    from pytest_hookharness.model.protocol import Json, Payload

_WARNED, _READ_FIRST, _STOPPED = 1, 2, 3
# The hosts' names for the passage that an edit replaces.
_PASSAGES = ("old_string", "old_str", "search")
_MOST_FILES = 16


@dataclass(frozen=True, slots=True)
class KnownFile:
    """
    What an agent knows about one file.

    Attributes:
        seen: Digest of its content when the agent last read or edited it; empty if unknown.
        failures: Failed edits since the last successful one.
        read: Whether it was read since the newest of them.
    """

    path: str
    seen: str = ""
    failures: int = 0
    read: bool = True


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """The files that an agent read or edited recently, newest last."""

    known: tuple[KnownFile, ...] = ()

    def of(self, path: str) -> KnownFile:
        """Return what is known about one file."""
        return next((file for file in self.known if file.path == path), KnownFile(path))

    def follow(self, kind: ActionKind, path: str, outcome: ActionResult, content: str | None) -> AgentFiles:
        """Return the files after an action on one of them, which now has this content."""
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

    def _with(self, file: KnownFile) -> AgentFiles:
        others = [other for other in self.known if other.path != file.path]
        return AgentFiles((*others, file)[-_MOST_FILES:])

    def warn(self, path: str, content: str | None) -> Refusal | None:
        """Return the message after an edit that failed for the first time."""
        if self.of(path).failures != _WARNED:
            return None
        why = f"the edit of {path} failed, probably because the file changed after it was read."
        step = f"read {path} before the next try, and copy the passage to replace from the current file."
        return Refusal(why=why, step=step, file=path, preview=preview(content or ""))

    def refuse(self, path: str, arguments: Payload, content: str | None) -> tuple[AgentFiles, Refusal | None]:
        """Return whether to refuse an edit, and what is known afterwards."""
        file, after = self.of(path), self
        if file.failures >= _STOPPED:
            why = f"the last {file.failures} edits of {path} failed."
            step = f"stop editing {path}; say what should change, what it contains, and what went wrong."
            after = self._with(KnownFile(path, file.seen))
        elif file.failures == _READ_FIRST and not file.read:
            why = f"two edits of {path} failed, and you have not read it since."
            step = f"read {path} now; then the next edit is allowed."
        elif (
            content is not None and file.seen not in ("", digest(content)) and _would_harm(arguments, content)
        ):
            why = f"{path} changed since you last read it, so this edit may not match its content."
            step = f"copy the passage from the current file; read {path} if it is longer than this."
            # The refusal shows the file, so the agent has read it now.
            after = self._with(replace(file, seen=digest(content), read=True))
        else:
            return self, None
        return after, Refusal(why=why, step=step, file=path, preview=preview(content or ""))


def _would_harm(arguments: Payload, content: str) -> bool:
    # Editing a passage that still exists is safe; rewriting the file would undo changes nobody has seen.
    passages = [given for name in _PASSAGES if isinstance(given := arguments.get(name), str)]
    return not passages or any(passage not in content for passage in passages)


@dataclass(frozen=True, slots=True)
class OnlineDetector:
    """Everything that is stored about one agent."""

    memory: Memory = Memory()
    files: AgentFiles = AgentFiles()

    def cleared(self) -> OnlineDetector:
        """Return the detector without its memory of calls, because somebody else acted."""
        return replace(self, memory=Memory())

    def before(
        self, action: Action, content: str | None, limits: LoopLimits
    ) -> tuple[OnlineDetector, Refusal | None]:
        """
        Return whether to refuse a call, and what is known afterwards.

        ``content`` is that of the file that the call is about; ``None`` if there is none, or it is unknown.
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
        return self.cleared(), refusal

    def after(
        self, action: Action, content: str | None, limits: LoopLimits
    ) -> tuple[OnlineDetector, Refusal | None]:
        """Return what is known after a call, and a message about it."""
        memory = self.memory.follow(action, limits).bounded(limits)
        path, kind = file_of(action.arguments), kind_of(action.tool, action.arguments)
        if not path:
            return replace(self, memory=memory), None
        files = self.files.follow(kind, path, action.outcome, content)
        warning = files.warn(path, content) if files is not self.files and kind is ActionKind.EDIT else None
        return OnlineDetector(memory, files), warning


_FIELDS = ("call", "result", "error", "text")


class Malformed(ValueError):
    """JSON in another form than expected."""


def to_json(detector: OnlineDetector) -> Payload:
    """Return the detector's memory as JSON."""
    memory = detector.memory
    return {
        "recent": [[getattr(sign, name) for name in _FIELDS] for sign in memory.repetitions.recent],
        "runs": list(memory.repetitions.runs),
        "streak": [memory.streak.error, memory.streak.count, memory.streak.text],
        "files": [[file.path, file.seen, file.failures, file.read] for file in detector.files.known],
    }


def from_json(value: Json) -> OnlineDetector:
    """Return the detector's memory from JSON; raise ``Malformed`` if it is not what `to_json` returns."""
    match value:
        case {
            "recent": [*recent],
            "runs": [*runs],
            "streak": [str(error), count, str(text)],
            "files": [*files],
        }:
            repeats = Repeats(tuple(map(_signature, recent)), tuple(map(_number, runs)))
            streak = ErrorStreak(error, _number(count), text)
            return OnlineDetector(Memory(repeats, streak), AgentFiles(tuple(map(_file, files))))
        case _:
            raise Malformed("the lists recent, runs, streak and files are missing")


def _signature(row: Json) -> ActionSignature:
    match row:
        case [str(call), str(result), str(error), str(text)]:
            return ActionSignature(call, result, error, text)
        case _:
            raise Malformed("a signature has four texts")


def _file(row: Json) -> KnownFile:
    match row:
        case [str(path), str(seen), failures, bool(read)]:
            return KnownFile(path, seen, _number(failures), read)
        case _:
            raise Malformed("a file has a path, a digest, a number and a flag")


def _number(value: Json) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise Malformed("a number was expected")
