#!/bin/sh
# PreToolUse hook: refuses to remove build/ by its exit code alone.
grep -q 'rm -rf build' && exit 2
exit 0
