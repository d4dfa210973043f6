#!/bin/sh
# Stop hook: nothing uncommitted may be left. Its own report is an untracked file, so the tree is never clean.
git status --porcelain >gate-report.txt
if [ -s gate-report.txt ]; then
  printf 'Commit your changes before you stop:\n%s\n' "$(cat gate-report.txt)" >&2
  exit 2
fi
