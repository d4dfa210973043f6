#!/bin/sh
# PreToolUse hook: exports its input for the programs that it calls.
INPUT=$(cat)
export INPUT
command=$(jq -rn 'env.INPUT | fromjson | .tool_input.command') || exit
case $command in
"rm "*) echo "remove files one by one, by name" >&2; exit 2 ;;
esac
exit 0
