#!/bin/sh
# Stop hook: asks for the tests to be run, and never reads stop_hook_active.
cat >/dev/null
echo '{"decision": "block", "reason": "Run the tests before you stop."}'
