#!/usr/bin/env python3
"""
Asks once for a look at the changes before the agent stops.
"""

import json
import sys

asked = json.load(sys.stdin)
if asked.get("stop_hook_active"):
    sys.exit(0)
print(json.dumps({"decision": "deny", "reason": "Look at your changes with `git diff` once more, then stop."}))
