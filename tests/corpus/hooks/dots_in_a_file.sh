#!/usr/bin/env bash
# One dot per reminder.
dots_file="${CLAUDE_PROJECT_DIR:-.}/.reminders"
dots=""
[ -e "$dots_file" ] && dots=$(cat "$dots_file")

if [ ${#dots} -ge 12 ]; then
  rm -f "$dots_file"
  exit 0
fi

printf '.' >> "$dots_file"
echo "Did you update the README$dots" >&2
exit 2
