#!/bin/sh
# PreToolUse hook: has nothing to say, and says that it allows.
echo '{"decision": "allow"}'
