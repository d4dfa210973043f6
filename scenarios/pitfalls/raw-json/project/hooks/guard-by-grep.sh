#!/bin/sh
# PreToolUse hook: searches the raw JSON, where tool_name stands first by chance and words stand anywhere.
if grep -qE '"tool_name":"Bash".*git push --force'; then
    echo "a forced push loses the work of others; push without --force" >&2
    exit 2
fi
exit 0
