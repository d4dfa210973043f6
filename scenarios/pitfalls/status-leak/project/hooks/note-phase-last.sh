#!/bin/sh
# PostToolUse hook: the same, but its last command decides how it ends: grep finds nothing in a file that was spoiled.
[ -s .phase ] || echo phase=build >.phase
grep '^phase=' .phase >>.phases
