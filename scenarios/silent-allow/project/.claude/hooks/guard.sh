#!/bin/sh
# PreToolUse hook: refuses to remove build/, and allows all else by saying nothing.
grep -q 'rm -rf build' || exit 0
echo 'build/ is shared; remove single files in it instead.' >&2
exit 2
