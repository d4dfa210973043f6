#!/usr/bin/env python3
"""
A fake agent's program: it gets one task, works, and runs the hooks that its project names.

FAKE_AGENT says how: ``behaves``, ``stays`` (never returns), ``deaf`` (runs no hook), ``mute`` (cannot work).
"""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

SETTINGS = (
    ".claude/settings.json",
    ".codex/hooks.json",
    ".gemini/settings.json",
    ".qwen/settings.json",
    ".openhands/hooks.json",
    ".github/hooks/rules.json",
)
EVENTS = ("Stop", "AfterAgent", "agentStop")


def hooks():
    """The command lines at a stop, as any of the settings files has them."""
    for settings in map(Path, SETTINGS):
        if not settings.exists():
            continue
        read = json.loads(settings.read_text())
        for event, entries in read.get("hooks", read).items():
            for entry in entries if event in EVENTS else ():
                yield from (one.get("command") or one["bash"] for one in entry.get("hooks", [entry]))


def refusals(said, again):
    """Return the reasons of the hooks that refuse a stop."""
    payload = {"session_id": "one", "cwd": str(Path.cwd()), "stop_hook_active": again}
    for command in hooks():
        run = subprocess.run(
            ["/bin/sh", "-c", command],
            input=json.dumps({**payload, "last_assistant_message": said}) + "\n",
            capture_output=True,
            text=True,
            check=True,
        )
        answer = json.loads(run.stdout or "{}")
        if answer.get("decision") in ("block", "deny"):
            yield answer["reason"]


def main():
    how = os.environ["FAKE_AGENT"]
    words = next(word for word in sys.argv if "src/app.py" in word or "the word ready" in word)
    if os.environ.get("FAKE_AGENT_ASKS"):
        answer = input("\x1b[1mDo you trust the files in this folder?\x1b[0m [y/n] ")
        print(f"answered {answer!r}")
    if how == "mute":
        sys.exit(f"not logged in, {os.environ.get('TOY_API_KEY', 'no key')} was refused")
    if "the word ready" in words:
        print("ready")
        return
    with Path("src/app.py").open("a") as file:
        file.write("# seen\n")
    said = words.partition("End with exactly: ")[2] or "done"
    blocks, most = 0, int(os.environ.get("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "8"))
    while how != "deaf" and (reasons := list(refusals(said, again=blocks > 0))):
        print("the hook says:", *reasons)
        blocks += 1
        if blocks > most:
            break
    if how == "stays":
        subprocess.Popen(["sleep", os.environ["STAY"]])
        signal.pause()
    print("done")


main()
