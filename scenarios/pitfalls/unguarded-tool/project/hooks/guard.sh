#!/bin/sh
# PreToolUse hook: names a pane where there is one in time, and guards in any case.
if command -v tmux >/dev/null; then
    timeout 0.3 tmux rename-window working >/dev/null 2>&1 || true
fi
if grep -q 'git push --force'; then
    echo "a forced push loses the work of others; push without --force" >&2
    exit 2
fi
exit 0
