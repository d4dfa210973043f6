#!/bin/bash
# Remember when the last refusal was, for the status line.
[ -d .claude ] || mkdir .claude
printf -v now '%(%s)T' -1
previous=none
[ -r .claude/last-refusal ] && previous=$(< .claude/last-refusal)
echo "$now" > .claude/last-refusal

reason="The build is broken."
if [ "$previous" != none ]; then
  reason="The build is still broken, as it was $((now - previous)) seconds ago."
fi
echo "{\"decision\": \"block\", \"reason\": \"$reason\"}"
