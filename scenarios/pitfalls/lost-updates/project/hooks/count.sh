#!/bin/sh
# PostToolUse hook: counts tool calls: reads the count, and writes it back one higher. The write itself is whole, and that does not help.
n=$(cat .count 2>/dev/null || echo 0)
echo $((n + 1)) >".count.$$"
mv ".count.$$" .count
exit 0
