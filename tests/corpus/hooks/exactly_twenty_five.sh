#!/bin/bash
# Keeps the session busy for a number of rounds.
state="${TMPDIR:-/tmp}/rounds.count"
ROUNDS=25

n=0
[ -s "$state" ] && n=$(< "$state")
n=$((n + 1))
echo $n > "$state"

if [ $n -eq $ROUNDS ]; then
  echo "round $n: enough for today"
  exit 0
fi

echo "Round $n. Pick the next open item in TODO.md and do it." >&2
exit 2
