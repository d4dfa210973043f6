#!/usr/bin/env python3
# PreToolUse hook: refuses a third call of one kind in a row, and counts what it refused like what was done.
import json
import os
import sys

payload = json.loads(sys.stdin.readline())
call = json.dumps([payload["tool_name"], payload["tool_input"]], sort_keys=True)
state = os.path.join(os.environ["HOME"], "calls.json")
calls = []
if os.path.exists(state):
    with open(state) as file:
        calls = json.load(file)
calls = [*calls, call][-3:]
with open(state, "w") as file:
    json.dump(calls, file)
if calls == [call] * 3:
    print("The same call three times in a row; read `build.log` first.", file=sys.stderr)
    sys.exit(2)
