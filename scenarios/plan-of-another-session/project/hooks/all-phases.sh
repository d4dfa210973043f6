#!/bin/sh
# Stop hook: asks to go on as long as the plan in this folder has phases that are not complete.
[ -e task_plan.md ] || exit 0
all=$(grep -c '^### Phase' task_plan.md)
complete=$(grep -c '^Status: complete' task_plan.md)
[ "$all" -gt 0 ] && [ "$complete" -eq "$all" ] && exit 0
echo "$complete/$all phases are complete. Go on with the plan." >&2
exit 2
