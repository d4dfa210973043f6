#!/bin/sh
# PreToolUse hook: tells on standard error that there is room left.
echo 'context: 40% used' >&2
