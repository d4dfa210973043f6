#!/bin/sh
# SessionEnd hook: does the same where nobody has to wait for it.
setsid nohup claude -p 'Summarise the last session in one sentence.' </dev/null >summary.txt 2>&1 &
