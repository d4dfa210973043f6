"""
Start the hooks of the two sets as their hosts would, to find out what they really do.

It is an oracle, so it shares nothing with the package: settings are read, inputs are made and processes are
started here, with a copy of the project in a fresh folder.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
GOOD, BAD = HERE / "good", HERE / "bad"
# Where each host looks in a project, with the variable by which it names the project to hooks.
PLACES = {
    ".claude/settings.json": "CLAUDE_PROJECT_DIR",
    ".codex/hooks.json": "",
    ".gemini/settings.json": "GEMINI_PROJECT_DIR",
    ".qwen/settings.json": "QWEN_PROJECT_DIR",
    ".openhands/hooks.json": "OPENHANDS_PROJECT_DIR",
    ".cursor/hooks.json": "CURSOR_PROJECT_DIR",
}


@dataclass(frozen=True)
class Handler:
    """One configured command: its event, what it is held against, and its limit as it is written."""

    event: str
    matcher: str
    command: str
    limit: float | None


@dataclass(frozen=True)
class Ran:
    """The result of starting a command; ``status`` is ``None`` if it was cut."""

    status: int | None
    stdout: str
    stderr: str
    seconds: float

    @property
    def answer(self) -> Mapping[str, Any]:
        """The JSON object on standard output; empty if it is none as a whole."""
        try:
            value = json.loads(self.stdout)
        except ValueError:
            return {}
        return value if isinstance(value, dict) else {}

    @property
    def refused(self) -> bool:
        """Whether this refuses, in the words of any of the hosts."""
        specific = self.answer.get("hookSpecificOutput", {})
        words = (
            self.answer.get("decision"),
            self.answer.get("permission"),
            specific.get("permissionDecision"),
        )
        return self.status == 2 or bool({"deny", "block"} & set(words))


def place_of(folder: Path) -> str:
    """The settings file of a project."""
    found = [place for place in PLACES if (folder / place).is_file()]
    if len(found) != 1:
        raise ValueError(f"{folder.name}: {len(found)} settings files, and each project has one")
    return found[0]


def handlers(folder: Path) -> Iterator[Handler]:
    """Read the settings of a project, in groups or flat."""
    settings = json.loads((folder / place_of(folder)).read_text(encoding="utf-8"))
    for event, entries in settings["hooks"].items():
        for entry in entries:
            for one in entry.get("hooks", [entry]):
                yield Handler(event, entry.get("matcher", ""), one["command"], one.get("timeout"))


class Project:
    """A copy of one project, whose hooks can be run."""

    def __init__(self, folder: Path, below: Path) -> None:
        self.root = below / "work" / folder.name
        self.home = below / "home"
        self.temporary = below / "tmp"
        shutil.copytree(folder, self.root, symlinks=True)
        self.home.mkdir()
        self.temporary.mkdir()
        self.handlers = list(handlers(folder))
        self.variable = PLACES[place_of(folder)]

    def run_hooks(
        self, event: str, *, cut: float = 20, path: str = "", raw: str = "", **fields: Any
    ) -> list[Ran]:
        """
        Start all commands of an event, one after the other, and wait for the end of their output.

        Args:
            event: The event's name.
            cut: Seconds after which a command is ended.
            path: Folders to look for programs in, instead of the usual ones.
            raw: The input as it is, instead of one that is made of ``fields``.
            **fields: Further keys of the input; None leaves a key out.
        """
        usual = {
            "session_id": "first",
            "transcript_path": str(self.home / "transcript.jsonl"),
            "cwd": str(self.root),
            "hook_event_name": event,
        }
        given = {key: value for key, value in {**usual, **fields}.items() if value is not None}
        text = raw or json.dumps(given)
        commands = [handler.command for handler in self.handlers if handler.event == event]
        return [self._run(command, text, cut, path) for command in commands]

    def asks(self, event: str, **fields: Any) -> Ran:
        """Run the one command of an event."""
        (ran,) = self.run_hooks(event, **fields)
        return ran

    def _run(self, command: str, text: str, cut: float, path: str) -> Ran:
        variables = {
            "PATH": path or os.environ["PATH"],
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "LANG": "C.UTF-8",
        }
        variables |= {self.variable: str(self.root)} if self.variable else {}
        begun = time.monotonic()
        process = subprocess.Popen(
            ["/bin/sh", "-c", command],
            cwd=self.root,
            env=variables,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        status: int | None
        try:
            out, err = process.communicate(text, timeout=cut)
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
            status = None
        return Ran(status, out, err, time.monotonic() - begun)
