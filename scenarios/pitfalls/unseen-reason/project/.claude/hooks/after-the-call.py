#!/usr/bin/env python3
# PostToolUse hook: gives the agent the house rules after an edit, as context.
import json
from pathlib import Path

context = {"hookEventName": "PostToolUse", "additionalContext": Path("RULES.md").read_text()}
print(json.dumps({"hookSpecificOutput": context}))
