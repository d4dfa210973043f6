#!/bin/sh
# TaskCompleted hook: no task is done before the tests pass.
if ! npm test >/dev/null 2>&1; then
  echo 'the tests fail: mend them, then close the task' >&2
  exit 2
fi
