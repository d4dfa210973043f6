#!/bin/sh
# PreToolUse hook: marks the session as active.
touch .active
exit 0
