"""
The agent's shell: one that leaves word of the folder in which it ended.

The shell writes that word itself when it exits, whatever makes it exit; only one
that is killed, that becomes another program or that is in POSIX mode from the start leaves none.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pytest_hookharness.execution.paths import WorkspaceError, make_folders, read_bytes, write_bytes

_VARIABLE = "BASH_ENV"
_LONGEST = 1 << 16
# The word is left first of all in a trap on EXIT. A trap that the command sets itself is kept behind it, for
# which `trap` is a function; subshells have a process number of their own, and leave no word. Errors are
# thrown away, so that `set -x` shows nothing, and `&& :` hands on an exit code that `set -e` would trip over.
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
        folder: Where it keeps what it reads first, and the word that it leaves; no part of the state.
    """

    folder: Path

    @property
    def _note(self) -> Path:
        return self.folder / "left"

    def prepare(
        self, command: str, environment: Mapping[str, str], sourced: Sequence[str] = ()
    ) -> tuple[tuple[str, ...], Mapping[str, str]]:
        """
        The words and the environment that run a command line.

        What is ours is read before the command line, so that its own messages count lines from the first.

        Args:
            command: The command line.
            environment: The environment that it is to have.
            sourced: Files that are read first, absolute.

        Raises:
            WorkspaceError: Something stands in the way of the shell's own files.
        """
        make_folders(self.folder)
        self._forget()
        own = environment.get(_VARIABLE)
        restored = f"unset {_VARIABLE}" if own is None else f"{_VARIABLE}={shlex.quote(own)}"
        # The shell fills in variables in this name, as in a text between double quotes.
        quoted = (own or "").replace('"', r"\"")
        usual = [f'[[ ! -r "{quoted}" ]] || . "{quoted}"'] if own else []
        preload = self.folder / "prelude.sh"
        lines = [restored, *usual, *(f". {shlex.quote(file)}" for file in sourced)]
        text = _PRELOAD.format(note=shlex.quote(str(self._note))) + "\n".join(lines) + "\n"
        write_bytes(preload, text.encode("utf-8", "surrogateescape"))
        return ("bash", "-c", command), {
            **environment,
            _VARIABLE: re.sub(r"[\\$`]", r"\\\g<0>", str(preload)),
        }

    def pop_folder(self) -> str:
        """
        The folder in which the last command line ended, absolute; empty if it left no word.

        Raises:
            WorkspaceError: Something that is no file stands in the place of its word.
        """
        text = read_bytes(self._note, most=_LONGEST)
        self._forget()
        folder = os.fsdecode(text or b"").removesuffix("\n")
        return folder if folder.startswith("/") else ""

    def _forget(self) -> None:
        try:
            self._note.unlink(missing_ok=True)
        except OSError as error:
            raise WorkspaceError(self._note, f"cannot be removed: {error.strerror}") from error
