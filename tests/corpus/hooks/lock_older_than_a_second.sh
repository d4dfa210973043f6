#!/bin/bash
# A stale lock is nobody's lock.
LOCK=.claude/deploy.lock

if [ -e "$LOCK" ]; then
  age=$(( $(date +%s) - $(stat -c %Y "$LOCK") ))
  if [ "$age" -gt 1 ]; then
    exit 0
  fi
else
  mkdir -p .claude && touch "$LOCK"
fi

echo '{"decision":"block","reason":"A deployment is running in this checkout. Try again in a moment."}'
exit 0
