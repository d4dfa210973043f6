#!/usr/bin/env python3
# PreToolUse hook: refuses a forced push; reads the command as words, so that quoted text is not taken for one.
import json
import shlex
import sys


def forced(command):
    words = shlex.split(command, comments=True)
    for at, word in enumerate(words):
        if word == "git" and "push" in words[at : at + 2]:
            return any(word in ("-f", "--force") for word in words[at:])
    return False


payload = json.loads(sys.stdin.readline())
if forced(payload["tool_input"]["command"]):
    refusal = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "No forced push: make a revert commit instead.",
    }
    print(json.dumps({"hookSpecificOutput": refusal}))
