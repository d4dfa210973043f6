#!/usr/bin/env python3
# Stop hook: asks once for the tests to be run, and lets go when the agent goes on because of it.
import json
import sys

payload = json.loads(sys.stdin.readline())
if not payload["stop_hook_active"]:
    print(json.dumps({"decision": "block", "reason": "Run the tests before you stop."}))
