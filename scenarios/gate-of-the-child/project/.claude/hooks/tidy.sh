#!/bin/sh
# Stop hook: has an agent tidy up behind the agent.
if [ -n "$TIDYING" ]; then
  exit 0
fi
TIDYING=1 claude -p 'Tidy up.' </dev/null >/dev/null
