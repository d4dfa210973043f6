#!/bin/sh
# PreToolUse hook: refuses whatever holds the words, wherever they stand; and what is put together by xargs does not hold them.
if grep -q 'rm -rf'; then
    echo "removing folders is not for agents; ask for it" >&2
    exit 2
fi
exit 0
