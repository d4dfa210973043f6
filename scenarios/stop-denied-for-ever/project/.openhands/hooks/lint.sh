#!/bin/sh
# Stop hook: the linter must be content before the agent may stop.
if ! output=$(npm run lint 2>&1); then
  printf 'lint failed: %s\n' "$output" >&2
  exit 2
fi
