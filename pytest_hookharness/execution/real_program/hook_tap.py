"""The tap of a live run: it notes when a real host started a hook, with which input, and how it ended."""

from __future__ import annotations

import os
import time

from pytest_hookharness.execution.processes.hook_wrapper import run_wrapped


def main(log: str, *command: str) -> None:
    """Run a hook for its host, and note the run in a file; the last word of the command is the hook's own."""
    run_wrapped(command, _Note(log, command[-1]))


class _Note:
    """Lines about one hook run, the first before the hook starts: a host may kill hook and tap together."""

    def __init__(self, log: str, command: str) -> None:
        self._log = log
        self._run = {"pid": os.getpid(), "at": time.monotonic(), "command": command, "env": dict(os.environ)}
        try:
            self._run["cwd"] = os.getcwd()
        except OSError:
            self._run["cwd"] = ""
        self._seen = b""
        self._code: int | None = None

    def add(self, part: bytes) -> None:
        self._seen += part
        if part or not self._seen:
            self._write()

    def keep(self, code: int | None) -> None:
        self._code = code
        self._write()

    def _write(self) -> None:
        # A literal of Python: `json` takes longer to load than the rest of this process.
        line = ascii({**self._run, "stdin": self._seen, "exit": self._code})
        try:
            file = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            # One write, so that lines of hooks that run at the same time do not mix.
            os.write(file, f"{line}\n".encode())
            os.close(file)
        except OSError:
            pass
