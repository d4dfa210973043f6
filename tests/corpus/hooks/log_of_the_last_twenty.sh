#!/bin/bash
# Keep the log short. After 25 refusals a person has to look anyway.
[ -d .claude ] || mkdir .claude
log=.claude/refusals.log

if [ -f "$log" ]; then
  mapfile -t lines < "$log"
  if [ "${#lines[@]}" -ge 25 ]; then
    exit 0
  fi
fi

printf '%(%F %T)T %s\n' -1 "refused, dependencies are outdated" >> "$log"
tail -n 20 "$log" > "$log.new" && mv "$log.new" "$log"
echo "Dependencies are outdated." >&2
exit 2
