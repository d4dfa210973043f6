#!/bin/sh
# SessionEnd hook: does the same in a session without hooks.
claude -p 'Summarise the last session in one sentence.' --setting-sources '' </dev/null >summary.txt
