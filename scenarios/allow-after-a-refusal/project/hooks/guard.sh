#!/bin/sh
# PreToolUse hook: refuses to remove build/ in the form of Claude Code.
grep -q 'rm -rf build' || exit 0
cat <<'END'
{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
 "permissionDecisionReason": "build/ is shared; remove single files in it instead."}}
END
