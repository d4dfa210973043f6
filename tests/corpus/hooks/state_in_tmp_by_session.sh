#!/bin/bash
# One state file for each session, in /tmp because the project must stay clean.
IFS= read -r input || true
[[ $input =~ \"session_id\"\ *:\ *\"([^\"]+)\" ]] && session=${BASH_REMATCH[1]}
state="/tmp/stop-gate-${session:-none}"

seen=0
[ -f "$state" ] && read -r seen < "$state"
echo "$((seen + 1))" > "$state"

if [ -f "$state.release" ]; then
  exit 0
fi
echo "Session ${session:-none}: not released." >&2
exit 2
