#!/bin/sh
# PreToolUse hook: names a pane, then guards; without tmux, or with one that fails or hangs, it does not.
set -e
tmux rename-window working
if grep -q 'git push --force'; then
    echo "a forced push loses the work of others; push without --force" >&2
    exit 2
fi
exit 0
