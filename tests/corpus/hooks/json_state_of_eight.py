#!/usr/bin/env -S python3 -S -E
"""Block a stop while the plan is open, but not for ever."""
import json
import os
import sys

STATE = os.path.join(".claude", "plan-gate.json")


def load():
    try:
        with open(STATE) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {"blocks": 0, "reasons": []}


json.load(sys.stdin)
state = load()
if state["blocks"] == 8:
    sys.exit(0)
state["blocks"] += 1
state["reasons"].append("plan is open")
os.makedirs(".claude", exist_ok=True)
with open(STATE, "w") as f:
    json.dump(state, f, indent=2)
print("The plan has open items (block %d)." % state["blocks"], file=sys.stderr)
sys.exit(2)
