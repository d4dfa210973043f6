#!/bin/bash
# Has the session summed up when it is over.
cat >/dev/null
cd "$CLAUDE_PROJECT_DIR" || exit 0
claude -p "Sum up in one line what was done in this project today." >.claude/summary.txt 2>/dev/null </dev/null
exit 0
