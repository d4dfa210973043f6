#!/bin/bash
# Reminder about the changelog. Settings and state share one file, as in our other tools.
conf="$HOME/.config/changelog-nag/state"
count=0
last=never

if [ -f "$conf" ]; then
  # shellcheck disable=SC1090
  . "$conf"
fi

if [ "$count" -ge 5 ]; then
  exit 0
fi

mkdir -p "${conf%/*}"
{
  echo "count=$((count + 1))"
  echo "last=$(date +%s)"
} > "$conf"

echo '{"decision": "block", "reason": "CHANGELOG.md has no entry for this change. Please add one."}'
