"""
The agent's shell, which records the folder in which a command line ended.

The shell writes the record itself when it exits, whatever makes it exit. It writes none if it is killed, if
it becomes another program, or if it is in POSIX mode from the start.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

from pytest_hookharness.execution.paths import WorkspaceError, make_folders, read_bytes, write_bytes
from pytest_hookharness.model.fast_dataclass import dataclass

_VARIABLE = "BASH_ENV"
_MAX_RECORD = 1 << 16
# The folder is written first of all in a trap on EXIT. A trap that the command sets itself is kept behind it,
# by a function named `trap`; subshells have a process number of their own and write nothing. Errors are
# discarded, so that `set -x` shows nothing, and `&& :` passes on an exit code that `set -e` would stop at.
_PRELOAD = """\
__left() {{ local code=$?; [[ $BASHPID != "$$" ]] || builtin pwd -P >|{note}; return $code; }}
[[ -o posix ]] || eval 'trap() {{
  builtin trap "$@" || return
  {{
    [[ $BASHPID == "$$" ]] || return 0
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
    """
    The shell of one workspace's agent.

    Attributes:
        folder: Where it keeps its preload script and the record; not part of the state.
    """

    folder: Path

    @property
    def _record(self) -> Path:
        return self.folder / "left"

    def prepare(
        self, command: str, environment: Mapping[str, str], sourced: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """
        Return the words and the environment that run a command line.

        The preload script is read before the command line, so that bash's own messages count lines from the
        first.

        Args:
            command: The command line.
            environment: The environment that it gets.
            sourced: Files that are read first, absolute.

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
        return ("bash", "-c", command), {
            **environment,
            _VARIABLE: re.sub(r"[\\$`]", r"\\\g<0>", str(preload)),
        }

    def pop_folder(self) -> str:
        """
        Return the absolute folder in which the last command line ended, and forget it.

        Empty if it was not recorded.

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
