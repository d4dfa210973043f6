#!/bin/bash
# Has the pages built again whenever they change.
cat >/dev/null
cd "$CLAUDE_PROJECT_DIR" || exit 0
setsid nohup ./build-again.sh </dev/null >/dev/null 2>&1 &
exit 0
