#!/bin/bash
# Counts the commands, one at a time.
cat >/dev/null
folder="$CLAUDE_PROJECT_DIR/.claude"
until mkdir "$folder/lock" 2>/dev/null; do
  sleep 0.1
done
if [ ! -f "$folder/commands" ]; then
  echo 1 >"$folder/commands"
  exit 0
fi
count=$(cat "$folder/commands" 2>/dev/null)
[[ $count =~ ^[0-9]{1,9}$ ]] || count=0
echo $((count + 1)) >"$folder/commands"
rmdir "$folder/lock"
exit 0
