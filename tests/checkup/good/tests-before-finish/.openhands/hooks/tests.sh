#!/bin/bash
# Has the tests pass before the agent finishes; after three refusals in a row it may finish all the same.
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

cd "$OPENHANDS_PROJECT_DIR" || exit 0
session=$(field session_id | tr -cd 'A-Za-z0-9-')
counts="${TMPDIR:-/tmp}/finish-refusals"
mkdir -p "$counts" 2>/dev/null || exit 0
count="$counts/${session:-none}"

if said=$(sh ./check.sh 2>&1); then
  rm -f "$count"
  exit 0
fi
times=$(cat "$count" 2>/dev/null)
# What is no number was not written here: then nobody is held.
[[ -z $times ]] && times=0
[[ $times =~ ^[0-2]$ ]] || { rm -f "$count"; exit 0; }
echo $((times + 1)) >"$count" 2>/dev/null || exit 0
{
  echo "./check.sh fails (refusal $((times + 1)) of 3). Mend what it says, then finish:"
  printf '%s\n' "$said" | head -20
} >&2
exit 2
