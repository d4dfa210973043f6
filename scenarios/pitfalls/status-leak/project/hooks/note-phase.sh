#!/bin/sh
# PostToolUse hook: notes the phase of the work, and ends well whatever its file holds.
[ -s .phase ] || echo phase=build >.phase
grep '^phase=' .phase >>.phases
exit 0
