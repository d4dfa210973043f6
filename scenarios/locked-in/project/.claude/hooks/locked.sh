#!/bin/sh
# PreToolUse hook: no command is run while the folder is locked.
if [ -e .lock ]; then
  echo 'The folder is locked, no command is run.' >&2
  exit 2
fi
