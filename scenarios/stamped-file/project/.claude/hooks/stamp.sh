#!/bin/sh
# PostToolUse hook: notes in the page whether it was used an even or an odd number of times.
if grep -q '^seen: even' page.md; then
  sed -i 's/^seen: even/seen: odd/' page.md
else
  sed -i 's/^seen: odd/seen: even/' page.md
fi
