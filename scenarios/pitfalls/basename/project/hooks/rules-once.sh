#!/bin/sh
# PostToolUse hook: tells the agent once for each file that the rules of its folder apply.
file=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p')
grep -qxF "$file" .told 2>/dev/null && exit 0
printf '%s\n' "$file" >>.told
cat <<END
{"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "Read the rules beside $file."}}
END
exit 0
