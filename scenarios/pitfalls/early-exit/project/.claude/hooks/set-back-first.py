#!/usr/bin/env python3
# PreToolUse hook: wants NOTES.md read after every two calls; sets the count back before it allows.
import json
import sys
from pathlib import Path

COUNT = Path(".state/calls")
payload = json.loads(sys.stdin.readline())


def allow():
    sys.exit(0)


def write(number):
    COUNT.parent.mkdir(exist_ok=True)
    COUNT.write_text(str(number))


calls = int(COUNT.read_text()) if COUNT.exists() else 0
file = payload["tool_input"].get("file_path", "")
if file.endswith("NOTES.md"):
    write(0)
    allow()
if calls >= 2:
    print("Two calls since NOTES.md was read: read it first.", file=sys.stderr)
    sys.exit(2)
write(calls + 1)
