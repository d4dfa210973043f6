#!/bin/sh
# Stop hook: refuses until there are notes. With NOTES_NEED_A_PERSON it does not ask where nobody can write them.
[ -n "$NOTES_NEED_A_PERSON" ] && [ -n "$IN_SUMMARY" ] && exit 0
[ -f NOTES.md ] && exit 0
echo "Write what you did into NOTES.md." >&2
exit 2
