#!/bin/sh
# TaskCompleted hook: asks for passing tests once for each task, and leaves the rest to the person.
task=$(sed -n 's/.*"task_id":"\([^"]*\)".*/\1/p')
grep -qsx "$task" .refused && exit 0
if ! npm test >/dev/null 2>&1; then
  echo "$task" >>.refused
  echo 'the tests fail: mend them, then close the task' >&2
  exit 2
fi
