#!/bin/bash
# Sends the agent back once if a script of the project has a syntax error.
input=$(cat)

# One field of the input, by jq where there is one, else by Python.
field() {
  printf '%s' "$input" | jq -r "(.$1) // empty" 2>/dev/null && return
  printf '%s' "$input" | python3 -c '
import json, sys
value = json.load(sys.stdin)
for key in sys.argv[1].split("."):
    value = value.get(key) if isinstance(value, dict) else None
if value not in (None, False):
    print("true" if value is True else value)
' "$1" 2>/dev/null
}

# Asked for the second time in a row: it was told, and may have its reasons.
[ "$(field stop_hook_active)" = true ] && exit 0

wrong=""
for script in "$CLAUDE_PROJECT_DIR"/scripts/*; do
  [ -f "$script" ] || continue
  said=$(bash -n "$script" 2>&1) || wrong+="${said//"$CLAUDE_PROJECT_DIR/"/}"$'\n'
done
[ -z "$wrong" ] && exit 0
{
  echo "Scripts of this project cannot be parsed. Mend the lines below, then stop again:"
  printf '%s' "$wrong" | head -20
} >&2
exit 2
