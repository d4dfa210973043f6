#!/bin/bash
# If nothing changed since the last stop there is no use in asking again.
[ -d .claude ] || mkdir .claude
state=.claude/state
sum=.claude/state.sha256
rounds=0
[ -f $state ] && read -r _ rounds < $state
echo "rounds $((rounds + 1))" > $state

new=$(sha256sum < $state)
old=
[ -f $sum ] && read -r old < $sum
echo "$new" > $sum

if [ "$new" = "$old" ]; then
  exit 0
fi
echo "Something changed, verify it: ${new:0:8}" >&2
exit 2
