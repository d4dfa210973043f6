#!/bin/bash
# At most five refusals in a row.
MAX_ATTEMPTS=5
COUNT_FILE="$HOME/.stop_attempts"

attempts=0
if [ -f "$COUNT_FILE" ]; then
  read -r attempts < "$COUNT_FILE"
fi
attempts=$((attempts + 1))
echo "$attempts" > "$COUNT_FILE"

if [ "${attempt:-0}" -ge "$MAX_ATTEMPTS" ]; then
  rm -f "$COUNT_FILE"
  exit 0
fi
echo "Attempt $attempts: eslint reports errors." >&2
exit 2
