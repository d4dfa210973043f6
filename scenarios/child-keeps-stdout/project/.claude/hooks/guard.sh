#!/bin/sh
# PreToolUse hook: refuses the call and starts a watcher, which inherits its output and keeps it open.
sleep 30 &
cat <<'END'
{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
 "permissionDecisionReason": "build/ is shared; remove single files in it instead."}}
END
