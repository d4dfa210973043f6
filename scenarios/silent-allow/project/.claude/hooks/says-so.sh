#!/bin/sh
# PreToolUse hook: refuses to remove build/, and allows all else by an answer without a word in it.
grep -q 'rm -rf build' || exec echo '{}'
echo 'build/ is shared; remove single files in it instead.' >&2
exit 2
