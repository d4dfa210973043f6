#!/bin/sh
# PreToolUse hook: guards with jq, and refuses where it cannot read what it guards.
command -v jq >/dev/null || { echo "jq is missing, so nothing can be checked; install jq" >&2; exit 2; }
command=$(timeout 5 jq -er .tool_input.command) || { echo "the input cannot be read" >&2; exit 2; }
case $command in
"rm "*) echo "remove files one by one, by name" >&2; exit 2 ;;
esac
exit 0
