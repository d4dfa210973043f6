#!/bin/sh
# SessionEnd hook: does the same, but not for the session that it started itself.
if [ -n "$SUMMARISING" ]; then
  exit 0
fi
SUMMARISING=1 claude -p 'Summarise the last session in one sentence.' </dev/null >summary.txt
