#!/bin/sh
# PreToolUse hook: reads its input from the pipe that it came by.
command=$(jq -r .tool_input.command)
case $command in
"rm "*) echo "remove files one by one, by name" >&2; exit 2 ;;
esac
exit 0
