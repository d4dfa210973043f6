#!/bin/bash
# Leaves a daemon whose environment is empty, so that no variable tells whose it is.
read -r _ < <(env -i setsid /bin/sh -c '(echo up; exec sleep "$0" </dev/null >/dev/null 2>&1) & exit 0' "$TOY_SECONDS")
exit 0
