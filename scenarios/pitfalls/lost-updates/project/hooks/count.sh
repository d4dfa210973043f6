#!/bin/sh
# PostToolUse hook: counts tool calls; the write is whole, but others read the same count before it.
n=$(cat .count 2>/dev/null || echo 0)
echo $((n + 1)) >".count.$$"
mv ".count.$$" .count
exit 0
