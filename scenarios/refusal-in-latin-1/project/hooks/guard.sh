#!/bin/sh
# PreToolUse hook: refuses to remove build/, with a name in its reason that is not written in UTF-8.
grep -q 'rm -rf build' || exit 0
printf 'build/ belongs to Andr\351; remove single files in it instead.\n' >&2
exit 2
