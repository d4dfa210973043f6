#!/bin/bash
# Audit trail of stops.
log="${CLAUDE_PROJECT_DIR:-$PWD}/.claude/audit.log"

[ -d "${log%/*}" ] || mkdir "${log%/*}"
printf '[%(%Y-%m-%d %H:%M:%S)T] Stop requested by %s\n' -1 "${USER:-unknown}" >> "$log"

if ! grep -qs '^approved$' .claude/approval; then
  echo "  refused: no approval" >> "$log"
  echo "Nobody approved this work yet. Ask for a review and wait for it." >&2
  exit 2
fi
exit 0
