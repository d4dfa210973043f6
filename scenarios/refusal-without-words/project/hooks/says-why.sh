#!/bin/sh
# PreToolUse hook: refuses to remove build/ by its exit code and with a reason on standard error.
grep -q 'rm -rf build' || exit 0
echo 'build/ is shared; remove single files in it instead.' >&2
exit 2
