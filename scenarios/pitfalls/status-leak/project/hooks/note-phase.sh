#!/bin/sh
# PostToolUse hook: notes the phase of the work after each call, and ends well whatever the file of phases holds.
[ -s .phase ] || echo phase=build >.phase
grep '^phase=' .phase >>.phases
exit 0
