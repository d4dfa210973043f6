#!/bin/sh
# Another PostToolUse hook, of somebody else, that keeps its own number in the same file and holds another lock.
exec 9>.count-also.lock
flock 9
n=$(cat .count.json 2>/dev/null || echo '{"calls": 0}')
n=${n#*: }
echo "{\"calls\": $((${n%\}} + 1))}" >.count-also.new
mv .count-also.new .count.json
exit 0
