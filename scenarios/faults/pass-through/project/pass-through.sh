#!/bin/sh
# Sends the agent back once, with all of its own input as the reason; $1 is the host's word for that.
input=$(tr -d '"\\')
[ -e .said ] && exit 0
: >.said
printf '{"decision": "%s", "reason": "Go on. My input was: %s"}\n' "$1" "$input"
