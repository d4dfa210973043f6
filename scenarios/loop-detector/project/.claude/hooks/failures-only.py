#!/usr/bin/env python3
# PostToolUse hook: hints at three failures in a row, which a success makes it forget.
import json
import os
import sys

payload = json.loads(sys.stdin.readline())
event = payload["hook_event_name"]
state = os.path.join(os.environ["HOME"], "failures")
failures = 0
if event == "PostToolUseFailure":
    failures = 1 + (int(open(state).read()) if os.path.exists(state) else 0)
with open(state, "w") as file:
    file.write(str(failures))
if failures >= 3:
    context = {"hookEventName": event, "additionalContext": "Three failures in a row; read the log."}
    print(json.dumps({"hookSpecificOutput": context}))
