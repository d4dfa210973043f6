#!/bin/sh
# Stop hook: gives the prompt of a loop again, unless the loop belongs to another session.
[ -e .loop ] || exit 0
owner=$(sed -n 's/^session: *//p' .loop)
case $owner in
'' | null) ;;
*) grep -q "$owner" || exit 0 ;;
esac
count=$(sed -n 's/^iteration: *//p' .loop)
sed -i "s/^iteration: .*/iteration: $((count + 1))/" .loop
echo 'Make it better.' >&2
exit 2
