#!/bin/sh
# Stop hook: refuses what the reviewer refuses (exit code 1); a reviewer that cannot work is no refusal.
opinion=$(tools/reviewer 2>&1)
case $? in
  0) exit 0 ;;
  1) printf 'The review does not pass: %s\n' "$opinion" >&2; exit 2 ;;
  *) printf '{"systemMessage": "no review today: tools/reviewer is out of order"}\n' ;;
esac
