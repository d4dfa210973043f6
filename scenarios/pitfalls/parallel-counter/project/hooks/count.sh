#!/bin/sh
# PostToolUse hook: counts tool calls; each write is whole, but others read the same count before it.
n=$(cat .count.json 2>/dev/null || echo '{"calls": 0}')
n=${n#*: }
echo "{\"calls\": $((${n%\}} + 1))}" >".count.json.$$"
mv ".count.json.$$" .count.json
exit 0
