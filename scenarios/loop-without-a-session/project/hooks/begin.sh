#!/bin/sh
# UserPromptSubmit hook: begins a loop for the session whose prompt asks for one.
payload=$(cat)
case $payload in
*'"prompt":"Loop'*) ;;
*) exit 0 ;;
esac
owner=$(echo "$payload" | sed 's/.*"session_id":"\([^"]*\)".*/\1/')
printf 'session: %s\niteration: 1\n' "$owner" >.loop
