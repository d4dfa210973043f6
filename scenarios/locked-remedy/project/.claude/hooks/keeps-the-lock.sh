#!/bin/sh
# PreToolUse hook: a lock is removed by the check alone.
if grep -q '"command":"rm .lock"'; then
  echo 'The lock is not yours to remove: run ./check instead.' >&2
  exit 2
fi
