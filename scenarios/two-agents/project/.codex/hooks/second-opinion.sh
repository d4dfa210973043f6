#!/bin/sh
# Stop hook: has the other agent look at what was done.
claude -p 'Review the last change.' </dev/null >review.txt
