#!/bin/bash
# Nobody pushes with force from here.
input=$(cat)
if [[ $input == *"git push --force"* ]]; then
  echo "git push --force rewrites what others have. Revert with a new commit, and push that." >&2
  exit 2
fi
exit 0
