#!/bin/sh
# UserPromptSubmit hook: has an observer take notes of all that is asked.
claude -p "You are an observer. Take notes of this event: $(cat)" </dev/null >>notes.txt
