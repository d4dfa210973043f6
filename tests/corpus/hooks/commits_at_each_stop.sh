#!/bin/bash
# Checkpoint the work at every stop, so that nothing is lost.
export GIT_AUTHOR_NAME=checkpoint GIT_AUTHOR_EMAIL=checkpoint@example.org
export GIT_COMMITTER_NAME=checkpoint GIT_COMMITTER_EMAIL=checkpoint@example.org

[ -d .git ] || git init -q . 2> /dev/null
git commit -q --allow-empty -m checkpoint > /dev/null 2>&1

echo "Checkpoint saved. The acceptance criteria are not met yet." >&2
exit 2
