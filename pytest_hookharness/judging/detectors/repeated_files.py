"""
The files that an agent edits: whether it knows them, and how often it failed.

Pure. What a file holds now is told by whoever asks.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from pytest_hookharness.judging.detectors.messages import Refusal, preview
from pytest_hookharness.judging.detectors.signatures import ActionKind, digest
from pytest_hookharness.model.actions import ActionResult
from pytest_hookharness.model.protocol import Payload

_WARNED, _READ_FIRST, _STOPPED = 1, 2, 3
# The passage that an edit looks for, by the names that hosts give it.
_PASSAGES = ("old_string", "old_str", "search")
_MOST_FILES = 16


@dataclass(frozen=True, slots=True)
class Known:
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
class Files:
    """
    The files that an agent read or edited lately, the newest last.
    """

    known: tuple[Known, ...] = ()

    def of(self, path: str) -> Known:
        """
        What is known of one file.
        """
        return next((file for file in self.known if file.path == path), Known(path))

    def follow(self, kind: ActionKind, path: str, outcome: ActionResult, content: str | None) -> Files:
        """
        The same after an action on a file, which now has this content.
        """
        file, seen = self.of(path), "" if content is None else digest(content)
        match kind, outcome:
            case ActionKind.READ, ActionResult.DONE:
                return self._with(replace(file, seen=seen, read=True))
            case ActionKind.EDIT, ActionResult.DONE:
                return self._with(Known(path, seen))
            case ActionKind.EDIT, ActionResult.FAILED:
                return self._with(replace(file, failures=min(file.failures + 1, _STOPPED), read=False))
            case _:
                return self

    def _with(self, file: Known) -> Files:
        others = [other for other in self.known if other.path != file.path]
        return Files((*others, file)[-_MOST_FILES:])

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

    def refuse(self, path: str, arguments: Payload, content: str | None) -> tuple[Files, Refusal | None]:
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
            return self._with(Known(path, file.seen)), reason
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
