#!/bin/bash
# Statistics: how often does the agent try to stop before it is done?
[ -d .claude ] || mkdir .claude
stats=.claude/stop-attempts
n=0
[ -f "$stats" ] && read -r n < "$stats"
echo $((n + 1)) > "$stats"

if [ ! -f DONE ]; then
  echo "There is no DONE file. Finish the task list and create it." >&2
  exit 2
fi
