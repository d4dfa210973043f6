#!/usr/bin/env python3
"""
Gives the agent four thousand commands a session.
"""

import fcntl
import json
import os
import sys
from pathlib import Path

LIMIT = 4000


def main():
    asked = json.load(sys.stdin)
    folder = Path(os.environ["CLAUDE_PROJECT_DIR"], ".claude")
    with open(folder / "budget.lock", "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        file = folder / "budget.json"
        used = json.loads(file.read_text()) if file.exists() else {}
        number = used.get(asked["session_id"], 0) + 1
        if number > LIMIT:
            print(f"{LIMIT} commands were run in this session. Stop, and say what is left to do.", file=sys.stderr)
            return 2
        used[asked["session_id"]] = number
        file.write_text(json.dumps(used))
    return 0


try:
    sys.exit(main())
except ValueError:
    print("The budget of commands cannot be read from .claude/budget.json, so no command is run.", file=sys.stderr)
    sys.exit(2)
