#!/usr/bin/env bash
# Ask once for a summary of the work.
set -u

input=$(cat)

if printf '%s' "$input" | grep -Eq '"stop_hook_active" *: *true'; then
  exit 0
fi

echo "Before you stop, write a short summary of what you changed and why." >&2
exit 2
