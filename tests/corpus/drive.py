"""
Drive the hooks of the corpus by themselves, to find out what they really do.

It is an oracle, so it shares nothing with the package that it is to measure: a hook is started again and
again in a fresh folder, with the input of a Stop, until it allows one. As a program it writes labels.json.
"""

from __future__ import annotations

import hashlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Generator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HOOKS = HERE / "hooks"
LABELS = HERE / "labels.json"
SUBJECTS = HERE / "subjects.json"

MOST_RUNS = 2000
DEADLINE = 30.0
PAUSE = 0.02
FOLDERS = ("/usr/local/bin", "/usr/bin", "/bin")


class Broken(Exception):
    """A hook that neither refused nor allowed the stop: it was cut, could not be run, or failed."""


@dataclass(frozen=True, slots=True)
class Drive:
    """
    The result of driving one hook.

    Attributes:
        ends_after: The number of refusals before it allowed the stop; nothing if it never did.
        hook_runs: How often it was started.
    """

    ends_after: int | None
    hook_runs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """
    The agent and its session, as far as a hook can see them.

    Attributes:
        root: The folder that holds all folders of this session.
        behaviour: ``idle``, or ``editing``: before each stop a new file ``touched-N.txt`` holds N.
        chatter: How many lines the transcript gains at a stop, besides those of an edit.
        session: The session's identifier.
    """

    root: Path
    behaviour: str = "idle"
    chatter: int = 2
    session: str = field(default_factory=lambda: str(uuid.uuid4()))

    @property
    def workspace(self) -> Path:
        return self.root / "workspace"

    @property
    def transcript(self) -> Path:
        return self.root / "home" / ".claude" / "projects" / "workspace" / f"{self.session}.jsonl"

    def settle(self) -> dict[str, str]:
        """Make the folders; return the environment that hooks have in them."""
        for folder in (self.workspace, self.transcript.parent, self.root / "tmp"):
            folder.mkdir(parents=True)
        return {
            "CLAUDE_PROJECT_DIR": str(self.workspace),
            "HOME": str(self.root / "home"),
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "PATH": search_path(),
            "PWD": str(self.workspace),
            "TMPDIR": str(self.root / "tmp"),
            "TZ": "UTC",
            "USER": "agent",
        }

    def stop(self, number: int) -> bytes:
        """Advance to the stop of a number, and return the hook's input."""
        said: list[tuple[str, str]] = []
        if self.behaviour == "editing":
            (self.workspace / f"touched-{number}.txt").write_text(f"{number}\n")
            said += [("assistant", f"writes touched-{number}.txt"), ("user", "written")]
        elif self.behaviour != "idle":
            raise ValueError(f"{self.behaviour!r} is not imitated here; allowed are idle and editing")
        said += [("user", "Stop hook feedback" if number > 1 else "Fix the bug")] * (self.chatter - 1)
        with self.transcript.open("a", encoding="utf-8") as transcript:
            for who, text in [*said, ("assistant", "Done.")]:
                line = {"type": who, "sessionId": self.session, "message": {"role": who, "content": text}}
                transcript.write(json.dumps(line) + "\n")
        payload = {
            "session_id": self.session,
            "transcript_path": str(self.transcript),
            "cwd": str(self.workspace),
            "permission_mode": "default",
            "hook_event_name": "Stop",
            "stop_hook_active": number > 1,
            "last_assistant_message": "Done.",
        }
        return json.dumps(payload, separators=(",", ":")).encode() + b"\n"


def search_path() -> str:
    """Where hooks find their interpreters: the system's before those of wrappers, which start slowly."""
    own = [
        Path(sys.base_prefix, "bin"),
        Path(sys.executable).parent,
        Path(shutil.which("node") or "/bin/node").parent,
    ]
    return os.pathsep.join(dict.fromkeys([*FOLDERS, *map(str, own)]))


def interpreter_of(script: bytes) -> str:
    """The program that a script's first line names."""
    words = script.partition(b"\n")[0].decode().removeprefix("#!").split()
    program, *rest = [word for word in words if not word.startswith("-")]
    return Path(rest[0] if Path(program).name == "env" else program).name


def can_run(interpreter: str) -> bool:
    """Whether this machine has an interpreter where hooks look for it."""
    return shutil.which(interpreter, path=search_path()) is not None


def run_hook(hook: Path, payload: bytes, env: Mapping[str, str], root: Path) -> tuple[int, str, str]:
    """
    Start a hook once; return its exit code, standard output and standard error.

    Raises:
        Broken: It did not end in time.
    """
    taken, given = os.pipe()
    os.write(given, payload)  # shorter than a pipe is deep
    os.close(given)
    with (root / "stdout").open("wb+") as stdout, (root / "stderr").open("wb+") as stderr:
        started = subprocess.Popen(
            [str(hook)], stdin=taken, stdout=stdout, stderr=stderr, cwd=env["PWD"], env=dict(env)
        )
        os.close(taken)
        ended = os.pidfd_open(started.pid)
        try:
            if not select.select([ended], (), (), DEADLINE)[0]:
                started.kill()
                raise Broken(f"{hook.name}: did not end within {DEADLINE:g} s")
        finally:
            os.close(ended)
            code = started.wait()
        stdout.seek(0)
        stderr.seek(0)
        return code, stdout.read().decode(), stderr.read().decode()


def refuses(name: str, code: int, stdout: str, stderr: str) -> bool:
    """
    Whether one hook run refused the stop.

    Raises:
        Broken: It neither refused nor allowed the stop.
    """
    if code == 2 and stderr.strip():
        return True
    if code != 0 or stderr.strip():
        raise Broken(f"{name}: exited {code} with {stderr!r}; allowed are 2 with a reason, and a silent 0")
    if not stdout.lstrip().startswith("{"):
        return False
    answer = json.loads(stdout)
    return bool(answer.get("decision") == "block" and answer["reason"])


@contextmanager
def fresh_agent(behaviour: str, chatter: int) -> Generator[Agent]:
    """
    An agent with folders of its own; they are removed with it, and so is what has its session's name in /tmp.
    """
    with tempfile.TemporaryDirectory(prefix="corpus-", ignore_cleanup_errors=True) as root:
        agent = Agent(root=Path(root), behaviour=behaviour, chatter=chatter)
        try:
            yield agent
        finally:
            for path in Path("/tmp").glob(f"*{agent.session}*"):
                path.unlink()


def drive(
    script: bytes,
    *,
    name: str,
    behaviour: str = "idle",
    hook_runs: int = MOST_RUNS,
    pause: float = 0.0,
    chatter: int = 2,
) -> Drive:
    """
    Drive a hook until it allows the stop.

    Args:
        script: The hook.
        name: Its file name.
        behaviour: What the agent does after a refusal.
        hook_runs: How often it is started at most.
        pause: How many seconds the agent takes between two stops.
        chatter: How many lines the transcript gains at a stop.

    Raises:
        Broken: It neither refused nor allowed the stop.
    """
    with fresh_agent(behaviour, chatter) as agent:
        env = agent.settle()
        hook = agent.workspace / ".claude" / "hooks" / name
        hook.parent.mkdir(parents=True)
        # Written by a child: a descriptor that is open for writing while another thread forks would make
        # the script "busy" when it is started.
        subprocess.run(
            ["sh", "-c", 'cat > "$1" && chmod 755 "$1"', "sh", str(hook)], input=script, check=True
        )
        for number in range(1, hook_runs + 1):
            if not refuses(name, *run_hook(hook, agent.stop(number), env, agent.root)):
                return Drive(number - 1, number)
            if pause:
                select.select((), (), (), pause)
        return Drive(None, hook_runs)


def label(name: str, subject: Mapping[str, str]) -> dict[str, Any]:
    """
    Return all that is known about a hook of the corpus, found out by driving it.

    A hook that ends is driven twice more, by an agent that is slow and by one that talks more. What
    changes the number of refusals then is named: such a hook does not count refusals.
    """
    script = (HOOKS / name).read_bytes()
    again = partial(drive, script, name=name, behaviour=subject["agent"])
    found = again()
    moved_by: list[str] = []
    if found.ends_after is not None:
        moved_by += ["time"] if again(pause=PAUSE) != found else []
        moved_by += ["transcript"] if "time" not in moved_by and again(chatter=5) != found else []
    return {
        "sha256": hashlib.sha256(script).hexdigest(),
        "interpreter": interpreter_of(script),
        "agent": subject["agent"],
        "ends_after": found.ends_after,
        "hook_runs": found.hook_runs,
        "moved_by": moved_by,
        "note": subject["note"],
    }


def main() -> None:
    """Label all hooks anew, two at a time."""
    subjects: dict[str, dict[str, str]] = json.loads(SUBJECTS.read_text(encoding="utf-8"))
    with ThreadPoolExecutor(2) as pool:
        labels = dict(zip(subjects, pool.map(label, subjects, subjects.values()), strict=True))
    LABELS.write_text(json.dumps(labels, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
