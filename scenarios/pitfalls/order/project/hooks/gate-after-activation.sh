#!/bin/sh
# PreToolUse hook: refuses calls of sessions that are not active; another hook makes them so.
if [ ! -e .active ]; then
    echo "this session is not active; try the same again" >&2
    exit 2
fi
exit 0
