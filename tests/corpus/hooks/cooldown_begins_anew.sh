#!/bin/bash
# Within five minutes of a refusal the answer is the same.
COOLDOWN=300
stamp_file="${TMPDIR:-/tmp}/last-block"
printf -v now '%(%s)T' -1

last=$now
[ -f "$stamp_file" ] && last=$(< "$stamp_file")

if ((now - last < COOLDOWN)); then
  echo "$now" > "$stamp_file"
  echo "Cooling down, please improve the commit message meanwhile." >&2
  exit 2
fi
exit 0
