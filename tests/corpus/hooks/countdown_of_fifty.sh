#!/bin/bash
# A budget of refusals for one session. What is left is kept per project.
[ -d .claude ] || mkdir .claude
BUDGET=.claude/refusals-left
read -r _ignored

left=50
if [[ -f $BUDGET ]]; then
  read -r left < "$BUDGET"
fi

if [[ $left -eq 0 ]]; then
  exit 0
fi

echo $((left - 1)) > "$BUDGET"
printf '{"decision":"block","reason":"The documentation is out of date. Update docs/ first."}\n'
exit 0
