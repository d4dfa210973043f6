#!/bin/sh
# PreToolUse hook: guards with jq, and refuses everything where that fails.
command=$(jq -er .tool_input.command) || { echo "the input cannot be read" >&2; exit 2; }
case $command in
"rm "*) echo "remove files one by one, by name" >&2; exit 2 ;;
esac
exit 0
