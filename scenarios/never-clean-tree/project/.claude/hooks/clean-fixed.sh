#!/bin/sh
# Stop hook: nothing uncommitted may be left in files that git knows; untracked ones are not its business.
git status --porcelain --untracked-files=no >gate-report.txt
if [ -s gate-report.txt ]; then
  printf 'Commit your changes before you stop:\n%s\n' "$(cat gate-report.txt)" >&2
  exit 2
fi
