#!/bin/sh
# PreToolUse hook: refuses every command that speaks of the production database.
if grep -q prod-db; then
  echo 'Not on the production database; use test-db.' >&2
  exit 2
fi
