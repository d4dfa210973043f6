#!/bin/sh
# PreToolUse hook: refuses calls while the release is frozen; it needs no other hook for that.
if [ -e .frozen ]; then
    echo "the release is frozen; remove .frozen when it is out" >&2
    exit 2
fi
exit 0
