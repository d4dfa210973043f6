#!/bin/sh
# PreToolUse hook: refuses to remove folders.
if grep -q 'rm -rf'; then
    echo "remove files one by one, by name" >&2
    exit 2
fi
exit 0
