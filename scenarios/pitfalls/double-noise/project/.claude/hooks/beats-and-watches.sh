#!/bin/sh
# PreToolUse hook: does the work of both and keeps it in a file.
echo 'heartbeat: 1 call, context: 40% used' >>.hooks.log
