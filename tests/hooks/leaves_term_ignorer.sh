#!/bin/bash
# Leaves a child that ignores TERM.
trap '' TERM
sleep "$TOY_SECONDS" </dev/null >/dev/null 2>&1 &
exit 0
