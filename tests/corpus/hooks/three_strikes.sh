#!/bin/bash
# Insist on the tests, but do not be a bore about it.
STRIKES_FILE=".claude/strikes"
cat > /dev/null

mkdir -p "$(dirname "$STRIKES_FILE")"
strikes=$(cat "$STRIKES_FILE" 2>/dev/null || echo 0)

if [ "$strikes" -ge 3 ]; then
  exit 0
fi

strikes=$((strikes + 1))
echo "$strikes" > "$STRIKES_FILE"
echo "Tests were not run (strike $strikes). Run them and report the result." >&2
exit 2
