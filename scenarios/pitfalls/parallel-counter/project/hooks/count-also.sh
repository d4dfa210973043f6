#!/bin/sh
# PostToolUse hook: counts in the same file as another hook does, and holds a lock that the other does not know.
exec 9>.count-also.lock
flock 9
n=$(cat .count.json 2>/dev/null || echo '{"calls": 0}')
n=${n#*: }
echo "{\"calls\": $((${n%\}} + 1))}" >.count-also.new
mv .count-also.new .count.json
exit 0
