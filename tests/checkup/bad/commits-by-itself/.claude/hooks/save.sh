#!/bin/bash
# Saves each edit.
cat >/dev/null
cd "$CLAUDE_PROJECT_DIR" || exit 0
git rev-parse --git-dir >/dev/null 2>&1 || exit 0
git add -A >/dev/null 2>&1
git -c user.name=agent -c user.email=agent@example.org commit --quiet -m "Saved" >/dev/null 2>&1
exit 0
