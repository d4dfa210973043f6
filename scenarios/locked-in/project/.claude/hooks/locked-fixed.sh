#!/bin/sh
# PreToolUse hook: no command is run while the folder is locked, but for the check, which opens it.
if [ -e .lock ] && ! grep -q '"command":"./check"'; then
  echo 'The folder is locked: run ./check first.' >&2
  exit 2
fi
