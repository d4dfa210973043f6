#!/bin/sh
# BeforeAgent hook: tells the agent a house rule, in the field that is meant for it.
echo '{"hookSpecificOutput": {"hookEventName": "BeforeAgent", "additionalContext": "Indent with tabs."}}'
