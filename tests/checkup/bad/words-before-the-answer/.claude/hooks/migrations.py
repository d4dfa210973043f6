#!/usr/bin/env python3
"""
Keeps the agent from changing migrations that were released.
"""

import json
import os
import sys

asked = json.load(sys.stdin)
file = asked.get("tool_input", {}).get("file_path", "")
print(f"checking {file} ...")
if os.path.realpath(file).startswith(os.path.realpath(os.path.join(os.environ["CLAUDE_PROJECT_DIR"], "migrations")) + "/"):
    answer = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "Migrations are released. Write a new one with `make migration` instead.",
    }
    print(json.dumps({"hookSpecificOutput": answer}))
