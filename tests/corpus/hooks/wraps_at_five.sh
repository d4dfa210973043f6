#!/bin/bash
# Five colours for the status line, and five refusals at most.
[ -d .claude ] || mkdir .claude
colours=(red yellow green blue magenta)
f=.claude/colour
i=0
[ -f $f ] && i=$(< $f)

if [ "$i" -ge 5 ]; then
  exit 0
fi
echo $(((i + 1) % 5)) > $f
echo "status ${colours[$i]}: migrations are missing" >&2
exit 2
