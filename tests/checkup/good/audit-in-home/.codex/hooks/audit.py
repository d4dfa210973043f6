#!/usr/bin/env python3
"""
Keeps an audit of all tool calls in the home folder, a line of JSON for each.
"""

import fcntl
import json
import os
import sys
import time
from pathlib import Path


def main():
    asked = json.load(sys.stdin)
    entry = {
        "at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "session": asked.get("session_id"),
        "tool": asked.get("tool_name"),
        "input": json.dumps(asked.get("tool_input"))[:500],
    }
    try:
        folder = Path.home() / ".local" / "state" / "agent-audit"
        folder.mkdir(parents=True, exist_ok=True)
        with open(folder / "calls.jsonl", "a", encoding="utf-8") as log:
            fcntl.flock(log, fcntl.LOCK_EX)
            log.write(json.dumps(entry) + "\n")
    except OSError as error:
        print(f"audit: {error}", file=sys.stderr)


main()
