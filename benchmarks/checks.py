"""What ``hookharness check`` takes at its default budget, and how many hooks it tries on their events."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from measuring import Table, against, children_seconds

_SHELL = "#!/usr/bin/env bash\ninput=$(cat)\n"
_PYTHON = (
    "#!/usr/bin/env python3\nimport json, re, sys\nfrom pathlib import Path\nasked = json.load(sys.stdin)\n"
)
_NODE = '#!/usr/bin/env node\nconst asked = JSON.parse(require("fs").readFileSync(0, "utf8"));\n'
_SCRIPTS: Mapping[str, str] = {
    "context.sh": _SHELL + 'printf "Branch: %s\\n" "$(git branch --show-current 2>/dev/null)"\n',
    "bash_guard.sh": _SHELL
    + """case $input in *'"command": "git push --force'*|*'"command":"git push --force'*)
  echo "Ask before you push with force." >&2; exit 2;; esac
exit 0
""",
    "log_calls.sh": _SHELL + 'mkdir -p .calls && printf "%s\\n" "${#input}" >> .calls/sizes\n',
    "notify.sh": _SHELL + "command -v notify-send >/dev/null && notify-send 'The agent waits'\nexit 0\n",
    "save_notes.sh": _SHELL + 'mkdir -p .notes && date +%s > ".notes/compacted"\n',
    "protect.py": _PYTHON
    + """tool = asked.get("tool_input") or {}
path = str(tool.get("file_path") or tool.get("path") or "")
if Path(path).name in ("package-lock.json", "poetry.lock"):
    print(f"{path} is generated; run the package manager.", file=sys.stderr)
    sys.exit(2)
""",
    "secrets.py": _PYTHON
    + """if re.search(r"AKIA[0-9A-Z]{16}", str(asked.get("prompt", ""))):
    print("The prompt has a key of AWS.", file=sys.stderr)
    sys.exit(2)
""",
    "count_edits.py": _PYTHON
    + """folder = Path(".edits")
folder.mkdir(exist_ok=True)
name = re.sub(r"[^A-Za-z0-9-]", "-", str(asked.get("session_id") or asked.get("conversation_id") or "none"))
with open(folder / f"{name}.log", "a", encoding="utf-8") as log:
    log.write("edit\\n")
""",
    "no_todo.py": _PYTHON
    + """left = [file.name for file in Path("src").glob("*.py") if b"FIXME" in file.read_bytes()]
if left and not asked.get("stop_hook_active"):
    print(f"Finish {', '.join(left)} first.", file=sys.stderr)
    sys.exit(2)
""",
    "audit.js": _NODE
    + 'require("fs").appendFileSync(".audit", `${asked.hook_event_name} ${process.pid}\\n`);\n',
    "subagent.js": _NODE + "if (!asked.hook_event_name) process.exit(1);\n",
}
# The hooks of each host: event, matcher and script.
_HOOKS: Mapping[str, Sequence[tuple[str, str, str]]] = {
    "claude-code": (
        ("SessionStart", "", "context.sh"),
        ("UserPromptSubmit", "", "secrets.py"),
        ("PreToolUse", "Bash", "bash_guard.sh"),
        ("PreToolUse", "Edit|Write", "protect.py"),
        ("PostToolUse", "Edit|Write", "count_edits.py"),
        ("PostToolUse", "", "log_calls.sh"),
        ("Notification", "", "notify.sh"),
        ("PreCompact", "", "save_notes.sh"),
        ("SubagentStop", "", "subagent.js"),
        ("Stop", "", "no_todo.py"),
    ),
    "codex": (
        ("SessionStart", "", "context.sh"),
        ("UserPromptSubmit", "", "secrets.py"),
        ("PreToolUse", "Bash", "bash_guard.sh"),
        ("PostToolUse", "", "log_calls.sh"),
        ("Stop", "", "no_todo.py"),
    ),
    "gemini-cli": (
        ("SessionStart", "", "audit.js"),
        ("BeforeTool", "run_shell_command", "bash_guard.sh"),
        ("BeforeTool", "write_file|replace", "protect.py"),
        ("AfterTool", "", "log_calls.sh"),
        ("AfterAgent", "", "no_todo.py"),
    ),
    "cursor": (
        ("beforeSubmitPrompt", "", "secrets.py"),
        ("beforeShellExecution", "", "bash_guard.sh"),
        ("afterFileEdit", "", "count_edits.py"),
        ("preCompact", "", "save_notes.sh"),
        ("stop", "", "no_todo.py"),
    ),
}
_PLACES = {
    "claude-code": (".claude/settings.json", '"$CLAUDE_PROJECT_DIR"/hooks/{}'),
    "codex": (".codex/hooks.json", '"$(git rev-parse --show-toplevel)"/hooks/{}'),
    "gemini-cli": (".gemini/settings.json", '"$GEMINI_PROJECT_DIR"/hooks/{}'),
    "cursor": (".cursor/hooks.json", "./hooks/{}"),
}
# Hosts, and the most seconds on two cores.
_PROJECTS = {"ten hooks": (("claude-code",), 30.0), "25 hooks on four hosts": (tuple(_HOOKS), 60.0)}
_TRIED = re.compile(r"(?:(\d+) of )?(?:each of )?(?:(\d+) hooks?|the hook)(?: on each of its events)?\.$")


def table(folder: Path, *, quick: bool) -> Table:
    """Check a project with ten hooks, and one with 25; for a look, only the first."""
    found = Table(
        "17. hookharness check at its default budget",
        ("project", "tried / hooks x events", "time", "aim", "", "CPU", "problems", "undecided"),
        notes=[
            "Each entry of the settings is one hook on one event. The hooks are well-behaved. Two cores",
            "need at least half of the CPU time if they are quiet. Undecided is what there was no time for.",
        ],
    )
    for name, (hosts, most) in [*_PROJECTS.items()][: 1 if quick else None]:
        place = folder / name.replace(" ", "-")
        _make_project(place, hosts)
        before, began = children_seconds(), time.monotonic()
        reports = _check(place)
        took, used = time.monotonic() - began, children_seconds() - before
        wanted = sum(len(_HOOKS[host]) for host in hosts)
        found.add(
            name,
            f"{sum(map(_count_tried, reports))} / {wanted}",
            f"{took:.0f} s",
            *against(most, took, "{:.0f} s"),
            f"{used:.0f} s",
            str(sum(len(report["problems"]) for report in reports)),
            str(sum(len(report["undecided"]) for report in reports)),
        )
    return found


def _make_project(place: Path, hosts: Sequence[str]) -> None:
    (place / "src").mkdir(parents=True)
    (place / "src/main.py").write_text("print('hello')\n", encoding="utf-8")
    (place / "hooks").mkdir()
    for name in {script for host in hosts for _, _, script in _HOOKS[host]}:
        (place / "hooks" / name).write_text(_SCRIPTS[name], encoding="utf-8")
        (place / "hooks" / name).chmod(0o755)
    for host in hosts:
        file = place / _PLACES[host][0]
        file.parent.mkdir()
        file.write_text(json.dumps(_settings(host), indent=2), encoding="utf-8")
    if git := shutil.which("git"):
        subprocess.run([git, "init", "-q", place], check=True)


def _settings(host: str) -> dict[str, Any]:
    hooks: dict[str, list[dict[str, Any]]] = {}
    for event, matcher, script in _HOOKS[host]:
        handler = {"command": _PLACES[host][1].format(script)}
        if host == "cursor":
            hooks.setdefault(event, []).append(handler)
            continue
        group: dict[str, Any] = {"matcher": matcher} if matcher else {}
        hooks.setdefault(event, []).append({**group, "hooks": [{"type": "command", **handler}]})
    return {"version": 1, "hooks": hooks} if host == "cursor" else {"hooks": hooks}


def _check(place: Path) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "pytest_hookharness", "check", str(place), "--yes", "--format", "json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return list(json.loads(done.stdout)["checkups"])


def _count_tried(report: Mapping[str, Any]) -> int:
    """Return how many entries of the settings ran, as the report says."""
    found = _TRIED.search(report["tried"][0]) if report["tried"] else None
    if found is None:
        return 0
    return int(found[1] or found[2] or 1)
