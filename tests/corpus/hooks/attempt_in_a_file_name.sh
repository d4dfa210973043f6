#!/usr/bin/env bash
# The attempt number is the name of an empty file: easy to see with ls.
dir=.claude/attempts
[ -d "$dir" ] || mkdir -p "$dir"

current=0
for f in "$dir"/attempt-*; do
  [ -e "$f" ] && current=${f##*-}
done

if ((current >= 10)); then
  exit 0
fi

next=$((current + 1))
if ((current == 0)); then
  : > "$dir/attempt-$next"
else
  mv "$dir/attempt-$current" "$dir/attempt-$next"
fi
echo "Type checks are still red. Have another look." >&2
exit 2
