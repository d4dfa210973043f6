#!/usr/bin/env python3
# PreToolUse hook: no call before ./begin was run, which is a call itself.
import json
import sys
from pathlib import Path

payload = json.loads(sys.stdin.readline())
phase = Path(".state/phase")
if not phase.exists():
    print("This session has not begun: read STANDARDS.md and CHECKLIST.md, then run ./begin.", file=sys.stderr)
    sys.exit(2)
