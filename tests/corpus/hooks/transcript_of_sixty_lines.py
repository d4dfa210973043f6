#!/usr/bin/env -S python3 -S -E
"""Short sessions are suspicious: ask for more work until the transcript has some length."""
import json
import sys

payload = json.load(sys.stdin)
try:
    with open(payload["transcript_path"], encoding="utf-8") as f:
        lines = sum(1 for line in f if line.strip())
except OSError:
    lines = 0

if lines >= 60:
    sys.exit(0)
print(json.dumps({"decision": "block", "reason": "That was quick. Check the edge cases as well."}))
