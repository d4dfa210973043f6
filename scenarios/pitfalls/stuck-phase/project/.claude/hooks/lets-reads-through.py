#!/usr/bin/env python3
# PreToolUse hook: work only after ./begin; reads, and ./begin itself, are let through in every phase.
import json
import sys
from pathlib import Path

payload = json.loads(sys.stdin.readline())
phase = Path(".state/phase")
words = payload["tool_input"].get("command", "")
if payload["tool_name"] == "Read" or words == "./begin":
    sys.exit(0)
if not phase.exists():
    print("This session has not begun: read STANDARDS.md and CHECKLIST.md, then run ./begin.", file=sys.stderr)
    sys.exit(2)
