#!/bin/sh
# Stop hook: has the other agent look at what was done.
codex exec --skip-git-repo-check 'Review the last change.' </dev/null >review.txt
