#!/bin/bash
# Let go when the agent has been asked often enough and the report says enough, both of it.
[ -d .claude ] || mkdir .claude
input=$(cat)
count_file=.claude/review.count
report=.claude/review.log

n=0
[ -f "$count_file" ] && n=$(cat "$count_file")
touch "$report"

if [ "$n" -ge 5 ] && [ "$(wc -l < "$report")" -ge 20 ]; then
  exit 0
fi

echo $((n + 1)) > "$count_file"
{
  echo "## review $((n + 1))"
  echo "input was ${#input} characters"
} >> "$report"
echo "Review your diff again with fresh eyes." >&2
exit 2
