#!/bin/bash
# Give it a few more tries each time.
[ -d .claude ] || mkdir .claude
state=.claude/limits
count=0 limit=3
[ -f "$state" ] && read -r count limit < "$state"

if [ "$count" -ge "$limit" ]; then
  exit 0
fi
count=$((count + 1))
limit=$((count + 3))
echo "$count $limit" > "$state"
echo "Try $count, you have until try $limit. Integration tests fail." >&2
exit 2
