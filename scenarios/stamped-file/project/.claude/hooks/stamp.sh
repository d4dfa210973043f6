#!/bin/sh
# PostToolUse hook: notes in the page whether it was used an even or an odd number of times.
if grep -q '^seen: even' page.md; then from=even to=odd; else from=odd to=even; fi
# Not by `sed -i`: for the name of its temporary file it draws a random number, in one of about twenty runs.
page=$(sed "s/^seen: $from/seen: $to/" page.md)
printf '%s\n' "$page" >page.md
