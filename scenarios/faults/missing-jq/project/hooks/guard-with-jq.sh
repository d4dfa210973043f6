#!/bin/sh
# PreToolUse hook: guards with jq, and lets everything through where that fails.
command=$(jq -r .tool_input.command)
case $command in
"rm "*) echo "remove files one by one, by name" >&2; exit 2 ;;
esac
exit 0
