#!/bin/sh
# Stop hook: waits for the word of a reviewer on a pipe that nobody ever writes to.
mkfifo "$TMPDIR/reply" 2>/dev/null
read -r word <"$TMPDIR/reply"
[ "$word" = fine ] || exit 2
