#!/usr/bin/env bash
# Run the check, write down how long it took.
[ -d .claude ] || mkdir .claude
check() {
  [ -x ./scripts/check ] && ./scripts/check
}

began=${EPOCHREALTIME/[.,]/}
check > .claude/check.out 2>&1
code=$?
took=$((${EPOCHREALTIME/[.,]/} - began))
echo "$code after $took us" >> .claude/check.times

if [ $code -ne 0 ]; then
  echo "scripts/check failed with $code after $took us" >&2
  exit 2
fi
