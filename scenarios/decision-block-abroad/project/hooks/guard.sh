#!/bin/sh
# PreToolUse hook: refuses to remove build/ by decision block.
grep -q 'rm -rf build' || exit 0
echo '{"decision": "block", "reason": "build/ is shared; remove single files in it instead."}'
