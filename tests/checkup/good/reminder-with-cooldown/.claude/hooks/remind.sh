#!/bin/bash
# Reminds the agent of the house rules with a prompt, at most once in ten minutes for each session.
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

rules="$CLAUDE_PROJECT_DIR/RULES.md"
[ -r "$rules" ] || exit 0
session=$(field session_id | tr -cd 'A-Za-z0-9-')
[ -n "$session" ] || exit 0
stamps="${TMPDIR:-/tmp}/house-rules-$(id -u)"
mkdir -p -m 700 "$stamps" 2>/dev/null || exit 0
now=$(date +%s)
last=$(cat "$stamps/$session" 2>/dev/null)
[[ $last =~ ^[0-9]{1,12}$ ]] || last=0
[ $((now - last)) -lt 600 ] && exit 0
echo "$now" >"$stamps/$session"
echo "Keep to the rules of this house:"
head -c 2000 "$rules"
exit 0
