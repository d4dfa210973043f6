#!/bin/sh
# PostToolUse hook: counts tool calls; nobody else reads the count between its read and its write.
until mkdir .lock 2>/dev/null; do sleep 0.01; done
trap 'rmdir .lock' EXIT
n=$(cat .count 2>/dev/null || echo 0)
echo $((n + 1)) >.count
exit 0
