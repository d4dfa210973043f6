#!/bin/bash
# Takes blanks from the ends of lines in the file that was just edited, and says so.
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

root=$(cd "$CLAUDE_PROJECT_DIR" && pwd -P) || exit 0
file=$(field tool_input.file_path)
[ -f "$file" ] || exit 0
folder=$(cd "$(dirname "$file")" && pwd -P) || exit 0
case "$folder/" in "$root"/*) ;; *) exit 0 ;; esac
case "$file" in *.py | *.sh | *.js | *.ts | *.txt) ;; *) exit 0 ;; esac
grep -q '[[:blank:]]$' "$file" || exit 0

trimmed=$(mktemp) || exit 0
trap 'rm -f "$trimmed"' EXIT
# Written through, so that mode and links of the file stay.
sed 's/[[:blank:]]*$//' "$file" >"$trimmed" && cat "$trimmed" >"$file"
printf '%s' '{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Blanks at the ends of lines were removed from the file that you just wrote; nothing else was changed."}}'
exit 0
