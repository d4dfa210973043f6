#!/bin/sh
# PreToolUse hook: lets each agent make two calls without a log; the arguments say how agents are told apart.
input=$(cat)
key=
for name; do
    [ "$name" = process ] && key="$key $PPID"
    key="$key $(printf %s "$input" | sed -n "s/.*\"$name\":\"\([^\"]*\)\".*/\1/p")"
done
mkdir -p .calls
counter=.calls/$(printf %s "$key" | cksum | cut -d' ' -f1)
n=$(cat "$counter" 2>/dev/null || echo 0)
echo $((n + 1)) >"$counter"
if [ "$n" -ge 2 ]; then
    echo "two calls without a line in the log; write one" >&2
    exit 2
fi
exit 0
