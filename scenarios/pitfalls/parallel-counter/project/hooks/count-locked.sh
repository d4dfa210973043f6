#!/bin/sh
# PostToolUse hook: counts tool calls; nobody else reads the count between its read and its write.
exec 9>.count.lock
flock 9
n=$(cat .count.json 2>/dev/null || echo '{"calls": 0}')
n=${n#*: }
echo "{\"calls\": $((${n%\}} + 1))}" >.count.json.new
mv .count.json.new .count.json
exit 0
