#!/usr/bin/env python3
"""
Keeps the agent from writing .env.
"""

import json
import os
import sys

asked = json.load(sys.stdin)
if os.path.basename(asked.get("tool_input", {}).get("file_path", "")) == ".env":
    answer = {"hookEventName": "PreToolUse", "permissionDecision": "deny", "permissionDecisionReason": ""}
    print(json.dumps({"hookSpecificOutput": answer}))
