"""
The agent's tools: reading and writing files, and a shell that records where a command line ended.

An error of a tool is a value that the agent will see, never an exception. Damage to files between turns
depends on the content alone, so the same file is always damaged in the same way.

The shell writes the record of its last folder itself when it exits, whatever makes it exit. It writes none if
it is killed, if it becomes another program, or if it is in POSIX mode from the start.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import assert_never

from pytest_hookharness.execution.clock.shims import bash_env
from pytest_hookharness.execution.paths import (
    WorkspaceError,
    confine,
    lies_in,
    make_folders,
    read_bytes,
    remove_tree,
    write_bytes,
)
from pytest_hookharness.model.fast_dataclass import dataclass
from pytest_hookharness.model.moves import Corrupt, Edit, Performance, Read
from pytest_hookharness.model.processes import Exited, HeldOpen, NotStarted, ProcessResult, Signaled, TimedOut

# Bytes of the largest file that the agent's tools read. Those of real hosts refuse far smaller ones.
LARGEST_READ = 16 << 20


def perform(
    root: Path,
    operation: Edit | Read,
    *,
    folders: Sequence[Path] = (),
    private: Mapping[str, str] | None = None,
) -> Performance:
    """
    Carry out a tool call on a file.

    Args:
        root: The workspace; a relative path starts here.
        folders: Further folders that the agent may reach by an absolute path.
        private: Mount points that the hooks see, and the folders behind them.
    """
    try:
        path = _locate(root, operation.file, folders, private or {})
        data = read_bytes(path, most=LARGEST_READ)
        text = None if data is None else data.decode("utf-8", "replace")
        match operation:
            case Edit(old=None):
                return _write(path, text, operation.text)
            case _ if data is None:
                return Performance(error=f"{path}: there is no such file")
            case Read():
                return Performance(original=text, content=text)
            case Edit():
                return _replace(path, data, operation.old or "", operation.text)
            case _:
                assert_never(operation)
    except WorkspaceError as error:
        return Performance(error=str(error))


def _locate(root: Path, file: str, folders: Sequence[Path], private: Mapping[str, str]) -> Path:
    if not file or "\0" in file:
        raise WorkspaceError(file or "(no path)", "is not the path of a file")
    allowed = [root, *folders]
    target = os.path.normpath(root / file)
    if lies_in(target, allowed):
        return confine(target, [*allowed, *map(Path, private.values())])
    for point, folder in private.items():
        if lies_in(target, [point]):
            return confine(Path(folder) / os.path.relpath(target, point), [Path(folder)])
    return confine(target, allowed)


def _write(path: Path, original: str | None, text: str) -> Performance:
    # Half a character (a lone surrogate), which JSON can hold and UTF-8 cannot, becomes a question mark.
    write_bytes(path, text.encode("utf-8", "replace"))
    return Performance(original=original, content=text)


def _replace(path: Path, data: bytes, old: str, new: str) -> Performance:
    try:
        original = data.decode("utf-8")
    except UnicodeDecodeError:
        return Performance(error=f"{path}: is not UTF-8 text")
    found = original.count(old) if old else 0
    if found != 1:
        seen = f"is there {found} times" if old else "is empty"
        error = f"{path}: the passage to replace {seen}; it must be there exactly once"
        return Performance(original=original, error=error)
    return _write(path, original, original.replace(old, new))


def performance_of(run: ProcessResult) -> Performance:
    """Return the result of a shell command, as its tool sees it."""
    ending, stdout, stderr = run.ending, run.stdout.text, run.stderr.text
    match ending:
        case Exited(code) | HeldOpen(Exited(code)):
            return Performance(exit=code, stdout=stdout, stderr=stderr)
        case Signaled(signal) | HeldOpen(Signaled(signal)):
            error = f"the command was ended by signal {signal}"
            return Performance(error=error, stdout=stdout, stderr=stderr)
        case TimedOut(after):
            return Performance(error=f"the command timed out after {after:g} s", stdout=stdout, stderr=stderr)
        case NotStarted(reason):
            return Performance(error=reason)
        case HeldOpen():
            raise TypeError(f"an unknown exit: {ending.exit!r}")
        case _:
            assert_never(ending)


_BOM = b"\xef\xbb\xbf"
_BLANK_LINE = b" " * 1023 + b"\n"
_GARBAGE = b"\x00\xff\xfe{\x80garbage"
_KINDS_OF_DAMAGE = ("delete", "empty", "truncate", "garbage", "crlf", "bom", "grow", "chmod", "replace")


def corrupt(root: Path, event: Corrupt) -> None:
    """
    Damage a file of the workspace. Deleting a missing file is no error.

    Raises:
        WorkspaceError: The file is outside, does not exist, or the kind of damage is unknown.
    """
    # Only the folder is resolved: a link is deleted itself.
    named = root / event.file
    if named == root:
        raise WorkspaceError(root, "is the workspace itself; name a file in it")
    place = confine(named.parent, [root]) / named.name
    if event.how == "delete":
        _delete(place)
        return
    place = confine(named, [root])
    if event.how == "replace":
        write_bytes(place, event.text.encode("utf-8", "surrogateescape"))
    elif event.how == "chmod":
        _change_mode(place, event.text or "0000")
    elif event.how in _KINDS_OF_DAMAGE:
        data = read_bytes(place)
        if data is None:
            raise WorkspaceError(place, f"cannot be damaged ({event.how}): there is no such file")
        write_bytes(place, _grown(data, event.text) if event.how == "grow" else damaged(data, event.how))
    else:
        problem = f"unknown kind of damage {event.how!r}; allowed: {', '.join(_KINDS_OF_DAMAGE)}"
        raise WorkspaceError(place, problem)


def _grown(data: bytes, size: str) -> bytes:
    """Return content with blank lines at its end, which change the meaning of few formats."""
    missing = max(0, int(size) - len(data))
    # Long lines, so that a shell that reads line by line is not slow for that reason.
    return data + (_BLANK_LINE * (missing // len(_BLANK_LINE) + 1))[:missing]


def damaged(data: bytes, how: str) -> bytes:
    """Return content after damage that depends on the content alone."""
    match how:
        case "truncate":
            return data[: len(data) // 2]
        case "garbage":
            return (_GARBAGE * (len(data) // len(_GARBAGE) + 1))[: max(len(data), len(_GARBAGE))]
        case "crlf":
            return data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
        case "bom":
            return _BOM + data.removeprefix(_BOM)
        case _:
            return b""


def _delete(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        left = remove_tree(place)
        if left:
            raise WorkspaceError(place, f"cannot be deleted: {left[0]}")
        return
    try:
        place.unlink(missing_ok=True)
    except NotADirectoryError:
        return
    except OSError as error:
        raise WorkspaceError(place, f"cannot be deleted: {error.strerror}") from error


def _change_mode(place: Path, mode: str) -> None:
    try:
        place.chmod(int(mode, 8))
    except ValueError as error:
        raise WorkspaceError(place, f"{mode!r} is not an octal mode such as 0644") from error
    except OSError as error:
        raise WorkspaceError(place, f"cannot get the mode {mode}: {error.strerror}") from error


_VARIABLE = "BASH_ENV"
_MAX_RECORD = 1 << 16
# The folder is written first of all in a trap on EXIT. A trap that the command sets itself is kept after it,
# by a function named `trap`; subshells have a process number or a level of their own (in bash 3.2 only the
# level) and write nothing. Errors are discarded, so that `set -x` shows nothing, and `&& :` passes on an exit
# code that `set -e` would stop at.
# The command line `:` leaves no record: it is run to find out what the start of the shell itself reads.
_PRELOAD = """\
__left() {{
  local code=$?
  [[ ${{BASHPID-$$}} != "$$" || $BASH_SUBSHELL != 0 ]] || [[ $BASH_EXECUTION_STRING == : ]] ||
    builtin pwd -P >|{note}
  return $code
}}
[[ -o posix ]] || eval 'trap() {{
  builtin trap "$@" || return
  {{
    [[ ${{BASHPID-$$}} == "$$" && $BASH_SUBSHELL == 0 ]] || return 0
    local kept; kept=$(builtin trap -p EXIT)
    [[ $kept != *__left* ]] || return 0
    kept=${{kept#trap -- }}; kept=${{kept% EXIT}}; eval "kept=$kept"
    builtin trap -- "{{ __left && :; }} 2>/dev/null
$kept" EXIT
  }} 2>/dev/null
}}'
builtin trap -- '{{ __left && :; }} 2>/dev/null' EXIT
"""


@dataclass(frozen=True, slots=True)
class AgentShell:
    """The shell of one workspace's agent; its folder holds a record and is not part of the state."""

    folder: Path

    @property
    def _record(self) -> Path:
        return self.folder / "left"

    def prepare(
        self, command: str, environment: Mapping[str, str], sourced: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """
        Return the words and the environment that run a command line, after files that are ``sourced`` first.

        The preload script is read before the command line, so that bash's own messages count lines from the
        first.

        Raises:
            WorkspaceError: The shell's own files cannot be written.
        """
        make_folders(self.folder)
        self._forget()
        own = environment.get(_VARIABLE)
        restored = f"unset {_VARIABLE}" if own is None else f"{_VARIABLE}={shlex.quote(own)}"
        # The shell expands variables in this name, as in a text between double quotes.
        quoted = (own or "").replace('"', r"\"")
        usual = [f'[[ ! -r "{quoted}" ]] || . "{quoted}"'] if own else []
        preload = self.folder / "preload.sh"
        lines = [restored, *usual, *(f". {shlex.quote(file)}" for file in sourced)]
        text = _PRELOAD.format(note=shlex.quote(str(self._record))) + "\n".join(lines) + "\n"
        write_bytes(preload, text.encode("utf-8", "surrogateescape"))
        return ("bash", "-c", command), {**environment, _VARIABLE: bash_env(preload)}

    def pop_folder(self) -> str:
        """
        Return and forget the absolute folder in which the last command line ended; empty if not recorded.

        Raises:
            WorkspaceError: The record is not a regular file.
        """
        text = read_bytes(self._record, most=_MAX_RECORD)
        self._forget()
        folder = os.fsdecode(text or b"").removesuffix("\n")
        return folder if folder.startswith("/") else ""

    def _forget(self) -> None:
        try:
            self._record.unlink(missing_ok=True)
        except OSError as error:
            raise WorkspaceError(self._record, f"cannot be removed: {error.strerror}") from error
