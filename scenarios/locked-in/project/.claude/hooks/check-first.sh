#!/bin/sh
# PreToolUse hook: nothing is released before the check; who tries finds the folder locked.
if grep -q '"command":"./release"' && [ ! -e checked ]; then
  touch .lock
  echo 'Nothing is released without a check.' >&2
  exit 2
fi
