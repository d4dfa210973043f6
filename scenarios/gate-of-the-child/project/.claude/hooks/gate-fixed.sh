#!/bin/sh
# PreToolUse hook: nothing is removed with force, whoever is at work.
if grep -q 'rm -rf'; then
  echo 'rm -rf is not allowed here: move it to trash/.' >&2
  exit 2
fi
