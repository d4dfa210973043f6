#!/bin/sh
# PostToolUse hook: keeps a log of tool calls, of which it writes each line in pieces.
printf '{"pid": %s, ' "$$" >>.log.jsonl
printf '"tool": "%s"}\n' Bash >>.log.jsonl
exit 0
