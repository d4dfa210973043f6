"""
Changed settings files, and the guardian process that restores them if the process that changed them dies.

The original contents are in three places: in the memory of both processes, and in a journal in the user's
state folder. The project may be cleaned while hooks are recorded, so nothing in it is relied on.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pytest_hookharness.execution.user_files import ChangedMeanwhile, replace_file, store_file, user_folder
from pytest_hookharness.hosts.settings.formats import replace_commands
from pytest_hookharness.model.fast_dataclass import dataclass

RECORDER = Path(__file__).with_name("payload_recorder.py")
# Part of every wrapped command, whichever installation wrapped it.
OURS = f"{RECORDER.parent.name}/{RECORDER.name}"
ATTEMPTS = 10
_READY, _DONE = b"ready\n", b"."


class GuardError(Exception):
    """Settings cannot be guarded, so they are not changed; the message says what to do."""


@dataclass(frozen=True, slots=True)
class WrappedSettings:
    """
    One settings file whose commands are wrapped while hooks are recorded.

    Attributes:
        named: The file as the host finds it, absolute.
        meanwhile: Its contents while hooks are recorded.
        commands: The wrapped commands, each with the original.
    """

    named: Path
    file: Path
    before: bytes
    meanwhile: bytes
    keys: frozenset[str]
    commands: Mapping[str, str]

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> WrappedSettings:
        """Read an entry of a journal."""
        return cls(
            named=Path(entry["named"]),
            file=Path(entry["file"]),
            before=entry["before"].encode("latin-1"),
            meanwhile=entry["meanwhile"].encode("latin-1"),
            keys=frozenset(entry["keys"]),
            commands=entry["commands"],
        )

    def to_json(self) -> Mapping[str, Any]:
        """Return the entry of a journal."""
        return {
            "named": str(self.named),
            "file": str(self.file),
            "before": self.before.decode("latin-1"),
            "meanwhile": self.meanwhile.decode("latin-1"),
            "keys": sorted(self.keys),
            "commands": dict(self.commands),
        }


@dataclass(frozen=True, slots=True)
class Restored:
    """
    What restoring settings files led to.

    Attributes:
        lines: Sentences about files that somebody else changed meanwhile, or that could not be restored.
        left: The files that could not be restored; the journal still has them.
    """

    lines: tuple[str, ...]
    left: tuple[WrappedSettings, ...]


def journal_folder() -> Path:
    """Return the folder of all journals of this user."""
    return user_folder("XDG_STATE_HOME", ".local/state") / "recordings"


def journals() -> Iterator[tuple[Path, tuple[WrappedSettings, ...]]]:
    """Yield the journals of recordings that have not ended, or could not restore everything."""
    for journal in sorted(journal_folder().glob("*.json")):
        # A recording that ends just now removes its own.
        with contextlib.suppress(FileNotFoundError):
            yield journal, _parse(journal.read_bytes())


def _parse(data: bytes) -> tuple[WrappedSettings, ...]:
    return tuple(map(WrappedSettings.from_json, json.loads(data)))


def _store(journal: Path, files: Sequence[WrappedSettings]) -> None:
    store_file(journal, _compose(files), 0o600)


def _compose(files: Sequence[WrappedSettings]) -> bytes:
    return json.dumps([wrapped.to_json() for wrapped in files]).encode()


class Guarded:
    """
    Settings files that are changed until `end`; a guardian process restores them if this process dies.

    Raises:
        GuardError: The original contents cannot be saved, or the guardian does not start.
        ChangedMeanwhile: A file was edited since it was read. Nothing is changed then.
    """

    def __init__(self, files: Sequence[WrappedSettings]) -> None:
        self._files = files
        self.journal = journal_folder() / f"{uuid.uuid4().hex}.json"
        try:
            self.journal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            _store(self.journal, files)
        except OSError as error:
            raise GuardError(
                f"{self.journal.parent} cannot be written ({error.strerror}), and the settings are saved "
                "there before they are changed; set XDG_STATE_HOME to a folder that can be written"
            ) from error
        self._guardian = _start(self.journal, _compose(files))
        try:
            for wrapped in files:
                replace_file(wrapped.file, wrapped.before, wrapped.meanwhile, inherited=self._held)
        except OSError:
            self.end()
            raise

    @property
    def _held(self) -> tuple[int, ...]:
        # A process that still writes holds the pipe too: the guardian does not restore before it has ended.
        pipe = self._guardian.stdin
        return (pipe.fileno(),) if pipe is not None else ()

    def end(self) -> Restored:
        """Restore the files."""
        restored = restore(self._files, self.journal, inherited=self._held)
        # The guardian may have been killed.
        with contextlib.suppress(OSError):
            self._guardian.communicate(_DONE)
        return restored


def _start(journal: Path, data: bytes) -> subprocess.Popen[bytes]:
    """Start the guardian, and return when it knows the original contents."""
    process = subprocess.Popen(
        # Not from the folder it is called in: a project may hold a module of any name.
        [sys.executable, "-P", "-m", __name__, str(journal)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        # Ctrl-C and a closed terminal must not reach it.
        start_new_session=True,
        bufsize=0,
    )
    if process.stdin is None or process.stdout is None:
        raise ValueError("started without pipes")
    with contextlib.suppress(BrokenPipeError):
        left = memoryview(data + b"\n")
        while left:
            left = left[process.stdin.write(left) or 0 :]
    if process.stdout.readline() != _READY:
        process.communicate()
        journal.unlink(missing_ok=True)
        raise GuardError(
            f"the process that would restore the settings ended ({process.returncode}); call again"
        )
    return process


def restore(files: Sequence[WrappedSettings], journal: Path, *, inherited: Collection[int] = ()) -> Restored:
    """Restore settings files; those that cannot be restored now stay in the journal."""
    lines: list[str] = []
    left: list[WrappedSettings] = []
    for wrapped in files:
        try:
            lines.append(_restore(wrapped, inherited))
        except (OSError, UnicodeError) as error:
            left.append(wrapped)
            lines.append(
                f"{wrapped.file}: was not restored: {error}; fix that, and call `hookharness record "
                f"--restore`. Its original contents are in {journal}"
            )
    _update_journal(journal, left)
    return Restored(tuple(filter(None, lines)), tuple(left))


def _update_journal(journal: Path, left: Sequence[WrappedSettings]) -> None:
    if not left:
        journal.unlink(missing_ok=True)
        return
    # A write that fails leaves the journal with all files, which is as good.
    with contextlib.suppress(OSError):
        journal.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _store(journal, left)


def _restore(wrapped: WrappedSettings, inherited: Collection[int]) -> str:
    """
    Restore one file, and keep what others changed in it; return a sentence about that.

    Raises:
        OSError: It cannot be restored, or still runs the recorder.
        UnicodeError: It was changed, and is not text.
    """
    file = wrapped.file
    for _ in range(ATTEMPTS):
        try:
            now = file.read_bytes()
        except FileNotFoundError:
            return (
                f"{file}: was removed meanwhile, and stays removed. If you moved it, call "
                "`hookharness record --restore` with its new PATH"
            )
        if now == wrapped.before:
            return ""
        after, said = wrapped.before, ""
        if now != wrapped.meanwhile:
            text, _number = replace_commands(now.decode("utf-8"), wrapped.keys, wrapped.commands)
            after = text.encode()
            said = f"{file}: was changed meanwhile; its hooks are restored, the other changes stay"
        try:
            if after != now:
                replace_file(file, now, after, inherited=inherited)
        except (ChangedMeanwhile, FileNotFoundError):
            continue
        if OURS in after.decode("utf-8", "replace"):
            raise OSError(f"one of its hooks was edited meanwhile and still runs {RECORDER.name}")
        return said
    raise OSError("another program changes it again and again")


def watch(journal: Path) -> None:
    """Wait for the end of the process that holds the other end of standard input, then restore its files."""
    files = _parse(sys.stdin.buffer.readline())
    sys.stdout.buffer.write(_READY)
    sys.stdout.buffer.flush()
    if not sys.stdin.buffer.read(len(_DONE)):
        restore(files, journal)


if __name__ == "__main__":
    watch(Path(sys.argv[1]))
