#!/bin/sh
# Stop hook: reminds the agent to write its notes down; does not look whether it just did.
cat >/dev/null
echo 'Run `touch notes.md` to save what you learned, then stop.' >&2
exit 2
