"""
The recorder of one hook run: it saves the hook's input and otherwise does not change how the hook runs.

An error of the recording reaches neither hook nor host. The file is run by its path.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NoReturn

from pytest_hookharness.execution.processes.hook_wrapper import MOST, run_wrapped


def main(argv: Sequence[str]) -> NoReturn:
    """Run a hook, by the words of its command after the folder for recordings, and record its input."""
    folder, *command = argv
    run_wrapped(command, _Recording(Path(folder), command[-1]))


class _Recording:
    """
    The file of one hook run.

    What arrives is written before the hook gets it, and its beginning before the hook starts, so that a host
    that kills everything loses no payload; the exit code is added at the end.
    """

    def __init__(self, folder: Path, command: str) -> None:
        self._folder = folder
        self._command = command
        self._began, self._at = time.monotonic(), time.time_ns()
        self._seen = bytearray()
        self._payload: object = ""
        self._lock = threading.Lock()
        self._ended = False

    def add(self, part: bytes) -> None:
        """Add a part of the payload, and write what is there."""
        new = part[: MOST - len(self._seen)]
        self._seen.extend(new)
        if new:
            self.keep(None, changed=True)

    def keep(self, code: int | None, *, changed: bool = False) -> None:
        """Write the recording; an error must not change the hook's answer."""
        try:
            with self._lock:
                if not self._ended:
                    self._ended = code is not None
                    self._write(code, changed=changed)
        except Exception as error:  # noqa: BLE001 -- see above
            _complain(self._folder, error)

    def _write(self, code: int | None, *, changed: bool) -> None:
        from pytest_hookharness.reports.redaction import find_secrets, redact

        secrets = find_secrets(os.environ)
        if changed:
            # This takes long for a long payload, so it is not done again at the end.
            text = redact(self._seen.decode("utf-8", "replace"), secrets, cut=len(self._seen) >= MOST)
            try:
                self._payload = json.loads(text)
            except ValueError:
                self._payload = text
        record = {
            "version": 1,
            "event": _event(self._payload),
            "command": redact(self._command, secrets),
            "at": self._at,
            # The folder may have any name, and hooks are played in another one.
            "tmpdir": redact(os.environ.get("TMPDIR", ""), secrets),
            "payload": self._payload,
            "exit": code,
            "seconds": round(time.monotonic() - self._began, 3),
        }
        # Made anew if somebody cleaned the project meanwhile; recordings must not be committed by accident.
        with contextlib.suppress(FileExistsError):
            self._folder.mkdir(parents=True, mode=0o700)
            (self._folder / ".gitignore").write_text("*\n")
        name = f"{self._at}-{os.getpid()}"
        fresh = self._folder / f".{name}.new"
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(json.dumps(record, indent=2, ensure_ascii=False) + "\n")
        fresh.replace(self._folder / f"{name}.json")


def _event(payload: object) -> str:
    """Return the host's name of the event; OpenHands has another name for the key."""
    given = payload if isinstance(payload, Mapping) else {}
    names = (given.get("hook_event_name"), given.get("event_type"))
    return next((name for name in names if isinstance(name, str)), "")


def _complain(folder: Path, error: Exception) -> None:
    with contextlib.suppress(OSError), (folder / "problems.txt").open("a", encoding="utf-8") as file:
        file.write(f"{type(error).__name__}: {error}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
