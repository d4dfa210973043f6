#!/usr/bin/env python3
# PreToolUse hook: means to refuse a call that was made ten times, and remembers only five.
import json
import os
import sys

WINDOW, THRESHOLD = 5, 10
payload = json.loads(sys.stdin.readline())
call = json.dumps([payload["tool_name"], payload["tool_input"]], sort_keys=True)
state = os.path.join(os.environ["HOME"], "calls.json")
calls = []
if os.path.exists(state):
    with open(state) as file:
        calls = json.load(file)
calls = [*calls, call][-WINDOW:]
with open(state, "w") as file:
    json.dump(calls, file)
if calls.count(call) >= THRESHOLD:
    print("The same call again and again; say what is missing and stop.", file=sys.stderr)
    sys.exit(2)
