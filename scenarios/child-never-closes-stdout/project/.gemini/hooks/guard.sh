#!/bin/sh
# BeforeTool hook: refuses the call and starts a watcher, which inherits its output unless it is told to be quiet.
if [ "$2" = quiet ]; then
  sleep "$1" >/dev/null 2>&1 &
else
  sleep "${1:-infinity}" &
fi
echo '{"decision": "deny", "reason": "build/ is shared; remove single files in it instead."}'
