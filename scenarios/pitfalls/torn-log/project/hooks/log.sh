#!/bin/sh
# PostToolUse hook: keeps a log of tool calls, each line of which is written at once.
printf '{"pid": %s, "tool": "%s"}\n' "$$" Bash >>.log.jsonl
exit 0
