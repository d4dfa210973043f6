#!/bin/sh
# Stop hook: a folder is not left locked.
if [ -e .lock ]; then
  echo 'The folder is locked: run ./check, which opens it.' >&2
  exit 2
fi
