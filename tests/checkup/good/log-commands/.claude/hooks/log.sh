#!/usr/bin/env bash
# Keeps a log of the commands that the agent runs. It has no opinion about them.
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

log="$CLAUDE_PROJECT_DIR/.claude/log"
mkdir -p "$log" 2>/dev/null || exit 0
command=$(field tool_input.command)
command=${command//[$'\n\t']/ }
line="$(date -u +%FT%TZ)	$(field session_id)	${command:0:1000}"
# One write of one short line: lines of calls side by side do not mix.
printf '%s\n' "$line" >>"$log/commands.log" 2>/dev/null
exit 0
