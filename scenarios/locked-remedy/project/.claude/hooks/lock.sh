#!/bin/sh
# PreToolUse hook: no command is run while the folder is locked, but for the one that removes the lock.
if [ -e .lock ] && ! grep -q '"command":"rm .lock"'; then
  echo 'The folder is locked: remove .lock first.' >&2
  exit 2
fi
