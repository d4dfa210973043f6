#!/bin/bash
# Leaves a daemon: a session of its own, then a second fork whose parent ends.
read -r _ < <(setsid sh -c '(echo up; exec sleep "$0" </dev/null >/dev/null 2>&1) & exit 0' "$TOY_SECONDS")
exit 0
