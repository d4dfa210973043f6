#!/bin/sh
# Stop hook: the whole CI must pass before the agent may stop.
if ! output=$(npm run ci 2>&1); then
  printf 'CI failed, fix it before you stop:\n%s\n' "$output" >&2
  exit 2
fi
