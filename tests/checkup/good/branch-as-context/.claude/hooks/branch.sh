#!/bin/bash
# Tells the agent at the beginning on which branch it is and what was done last.
cat >/dev/null
cd "$CLAUDE_PROJECT_DIR" || exit 0
branch=$(git symbolic-ref --quiet --short HEAD 2>/dev/null) || exit 0
echo "You are on the branch $branch."
commits=$(git log --max-count=5 --format='- %s' 2>/dev/null)
if [ -n "$commits" ]; then
  echo "The last commits:"
  echo "$commits"
fi
exit 0
