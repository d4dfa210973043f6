#!/usr/bin/env python3
# PreToolUse hook: allows an edit, and gives the house rules as the reason for it.
import json
from pathlib import Path

answer = {
    "hookEventName": "PreToolUse",
    "permissionDecision": "allow",
    "permissionDecisionReason": Path("RULES.md").read_text(),
}
print(json.dumps({"hookSpecificOutput": answer}))
