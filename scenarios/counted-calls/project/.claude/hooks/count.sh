#!/bin/sh
# PreToolUse hook: counts the calls, and refuses the removal of what it counts in.
if grep -q 'calls.log'; then
  echo 'The log of calls stays.' >&2
  exit 2
fi
echo call >>calls.log
