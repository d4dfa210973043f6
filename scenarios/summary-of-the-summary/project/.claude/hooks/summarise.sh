#!/bin/sh
# SessionEnd hook: has another session write down what this one was about.
claude -p 'Summarise the last session in one sentence.' </dev/null >summary.txt
