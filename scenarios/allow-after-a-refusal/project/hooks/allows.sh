#!/bin/sh
# PreToolUse hook: keeps a list of all calls, and says that it has nothing against any.
echo called >>calls.txt
echo '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}}'
