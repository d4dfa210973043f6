#!/bin/sh
# UserPromptSubmit hook: notes the session whose prompt asks for the plan as the owner of the plan.
payload=$(cat)
case $payload in
*'"prompt":"Plan'*) echo "$payload" | sed 's/.*"session_id":"\([^"]*\)".*/\1/' >.plan-owner ;;
esac
