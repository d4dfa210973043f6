"""
Play the hooks of the blind test without judging: a loop that starts them and looks at what they answer.

It shares nothing with the package that is to be measured.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .subject import Subject, Truth

_PATH = os.pathsep.join(
    dict.fromkeys([str(Path(sys.executable).parent), "/usr/local/bin", "/usr/bin", "/bin"])
)


@dataclass(frozen=True, slots=True)
class Session:
    """
    An agent that stops again and again, and its folders.

    Attributes:
        root: The folder of everything.
        name: The session's identifier.
    """

    root: Path
    name: str

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def transcript(self) -> Path:
        return self.root / "transcript.jsonl"

    def environment(self) -> dict[str, str]:
        """Return the environment of hooks."""
        return {
            "CLAUDE_PROJECT_DIR": str(self.workspace),
            "HOME": str(self.root / "home"),
            "LC_ALL": "C.UTF-8",
            "PATH": _PATH,
            "TMPDIR": str(self.root / "tmp"),
            "TZ": "UTC",
        }

    def prepare(self, subject: Subject) -> list[Path]:
        """Write all files; return the scripts that run at a stop."""
        for folder in (self.workspace, self.root / "home", self.root / "tmp"):
            folder.mkdir()
        for name, text in subject.files.items():
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        hooks = [self.root / f"hook-{number}" for number in range(len(subject.stops))]
        for path, script in zip(hooks, subject.stops, strict=True):
            path.write_text(script)
        (self.root / "prompt").write_text(subject.prompt)
        if subject.git:
            commit = "git -c user.name=a -c user.email=a@b commit -qm base --allow-empty"
            git = f"git init -q && git add -A && {commit}"
            subprocess.run(["sh", "-c", git], cwd=self.workspace, env=self.environment(), check=True)
        return hooks

    def run(self, script: Path, event: str, **more: Any) -> tuple[int, str]:
        """Start a script with the input of an event; return exit code and standard output."""
        said = {
            "session_id": self.name,
            "transcript_path": str(self.transcript),
            "cwd": str(self.workspace),
            "hook_event_name": event,
            **more,
        }
        first = script.read_text().partition("\n")[0].removeprefix("#!").split()
        ended = subprocess.run(
            [*first, str(script)],
            input=json.dumps(said),
            capture_output=True,
            text=True,
            cwd=self.workspace,
            env=self.environment(),
            timeout=30,
            check=False,
        )
        return ended.returncode, ended.stdout

    def refuses(self, script: Path, number: int) -> bool:
        """Whether a script refuses a stop, as Claude Code reads exit code and output."""
        code, output = self.run(
            script,
            "Stop",
            stop_hook_active=number > 0,
            last_assistant_message="Done.",
            permission_mode="default",
        )
        if code or not output.lstrip().startswith("{"):
            return code == 2
        return bool(json.loads(output).get("decision") == "block")


def play(subject: Subject, turns: int) -> int | None:
    """Return after how many refusals the stop was allowed; nothing if it never was."""
    with tempfile.TemporaryDirectory(prefix="blind-", ignore_cleanup_errors=True) as root:
        session = Session(Path(root), str(uuid.uuid4()))
        hooks = session.prepare(subject)
        if subject.prompt:
            session.run(session.root / "prompt", "UserPromptSubmit", prompt="Fix the bug")
        for number in range(turns):
            with session.transcript.open("a") as transcript:
                for who, text in (("user", "go on"), ("assistant", "Done.")):
                    transcript.write(
                        json.dumps({"type": who, "message": {"role": who, "content": text}}) + "\n"
                    )
            if not any([session.refuses(hook, number) for hook in hooks]):  # noqa: C419 - all of them run
                return number
    return None


def contradiction(subject: Subject, turns: int) -> str:
    """Play a hook; return how the result contradicts what is said of it, or nothing."""
    found = play(subject, turns)
    match subject.truth:
        case Truth.ENDS:
            right = found == subject.after if subject.after is not None else found is not None
        case Truth.CHANCE:
            right = found is not None
        case Truth.ENDLESS | Truth.TIME:
            right = found is None
    return (
        "" if right else f"{subject.mechanism}: {subject.truth} {subject.after}, but {found} in {turns} turns"
    )
