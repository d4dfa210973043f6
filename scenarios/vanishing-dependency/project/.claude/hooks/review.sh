#!/bin/sh
# Stop hook: whatever the reviewer does but succeed is a refusal, also that it is not there.
if ! opinion=$(tools/reviewer 2>&1); then
  printf 'The review does not pass: %s\n' "$opinion" >&2
  exit 2
fi
