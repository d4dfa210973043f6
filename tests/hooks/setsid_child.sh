#!/bin/bash
# Leaves a child in a session of its own, and ends only when that child is there.
read -r _ < <(setsid sh -c 'echo up; exec sleep "$0" </dev/null >/dev/null 2>&1' "$TOY_SECONDS")
exit 0
