#!/bin/bash
# Stops asked against stops refused.
[ -d .claude ] || mkdir .claude
f=.claude/race
asked=0 refused=0
[ -f $f ] && IFS=, read -r asked refused < $f

asked=$((asked + 1))
if [ $asked -gt $((refused + 1)) ]; then
  exit 0
fi
refused=$asked
echo "$asked,$refused" > $f
echo '{"decision":"block","reason":"Open review comments are left."}'
