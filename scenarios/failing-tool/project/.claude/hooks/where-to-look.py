#!/usr/bin/env python3
# PostToolUseFailure hook: tells the agent where the log of a failed command is.
import json
import sys

json.loads(sys.stdin.readline())
context = {
    "hookEventName": "PostToolUseFailure",
    "additionalContext": "The log is in build.log; read it first.",
}
print(json.dumps({"hookSpecificOutput": context}))
