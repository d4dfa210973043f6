#!/bin/sh
# UserPromptSubmit hook: the same, but the observer is not observed.
if [ -n "$OBSERVING" ]; then
  exit 0
fi
OBSERVING=1 claude -p "You are an observer. Take notes of this event: $(cat)" </dev/null >>notes.txt
