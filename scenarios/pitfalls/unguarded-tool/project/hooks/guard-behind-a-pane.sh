#!/bin/sh
# PreToolUse hook: the same, but whoever has no tmux, or one that fails or hangs, has no guard.
set -e
tmux rename-window working
if grep -q 'git push --force'; then
    echo "a forced push loses the work of others; push without --force" >&2
    exit 2
fi
exit 0
