#!/usr/bin/env python3
# Stop hook: only means to give a hint; on this event extra context makes the agent go on, like a refusal.
import json
import sys

json.loads(sys.stdin.readline())
hint = "Style: 2 lines are longer than 100 characters."
print(json.dumps({"hookSpecificOutput": {"hookEventName": "Stop", "additionalContext": hint}}))
