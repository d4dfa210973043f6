#!/bin/sh
# PreToolUse hook: searches the raw JSON: it needs tool_name to stand before tool_input, and sees words in any field.
if grep -qE '"tool_name":"Bash".*git push --force'; then
    echo "a forced push loses the work of others; push without --force" >&2
    exit 2
fi
exit 0
