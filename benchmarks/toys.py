"""The programs that are run: nothing, a bash hook, a Python hook."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from pytest_hookharness.model.protocol import Json

GUARD = """\
#!/bin/bash
read -r payload
case $payload in *--force*) echo 'no force' >&2; exit 2 ;; esac
exit 0
"""

PYTHON = """\
import json
import sys

payload = json.load(sys.stdin)
if "--force" in json.dumps(payload):
    print("no force", file=sys.stderr)
    sys.exit(2)
"""

PAYLOAD: dict[str, Json] = {
    "session_id": "0f0c3a4e-6f0a-4c1c-9a53-7c5a0c6f3f11",
    "cwd": "/",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "git push --force"},
}
STDIN = json.dumps(PAYLOAD) + "\n"


def write_guard(folder: Path) -> Path:
    """Write the bash hook, which refuses a push by force with nothing but builtins."""
    path = folder / "guard.sh"
    path.write_text(GUARD)
    path.chmod(0o755)
    return path


def targets(folder: Path) -> dict[str, tuple[str, ...]]:
    """Return the commands that are run, by name."""
    script = folder / "hook.py"
    script.write_text(PYTHON)
    return {
        "true": (shutil.which("true") or "/bin/true",),
        "bash": (str(write_guard(folder)),),
        "python": (sys.executable, str(script)),
    }


def build_floor(folder: Path) -> Path | None:
    """Compile the floor; ``None`` if there is no C compiler."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        return None
    program = folder / "floor"
    source = Path(__file__).with_name("floor.c")
    subprocess.run([compiler, "-O2", "-o", program, source], check=True)
    return program
