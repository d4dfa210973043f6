#!/bin/bash
# The parent process tells sessions apart that share a project.
IFS= read -r input || true
session=${input#*\"session_id\":}
session=${session#*\"}
session=${session%%\"*}

dir="${TMPDIR:-/tmp}/gates"
[ -d "$dir" ] || mkdir -p "$dir"
printf '%s refused\n' "$PPID" >> "$dir/$session"

if [ -e "$dir/$PPID.open" ]; then
  exit 0
fi
printf '{"decision":"block","reason":"%s"}\n' "Wait for the other session to finish."
