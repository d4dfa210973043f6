#!/bin/sh
# PreToolUse hook: refuses whatever holds the words; what xargs puts together does not hold them.
if grep -q 'rm -rf'; then
    echo "removing folders is not for agents; ask for it" >&2
    exit 2
fi
exit 0
