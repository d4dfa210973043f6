#!/bin/bash
# Begin and end of a check both count.
[ -d .claude ] || mkdir .claude
c=.claude/ticks
n=1
[ -f $c ] && read -r n < $c

if [ "$n" -eq 50 ]; then
  echo "limit reached"
  exit 0
fi
echo $((n + 2)) > $c
echo "Benchmarks are slower than before ($n)." >&2
exit 2
