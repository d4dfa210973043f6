#!/bin/sh
# Stop hook: gives the prompt of a loop again, twice at most, and only to the session that began it.
[ -e .loop ] || exit 0
owner=$(sed -n 's/^session: *//p' .loop)
[ ${#owner} -eq 36 ] && grep -q "\"session_id\":\"$owner\"" || exit 0
count=$(sed -n 's/^iteration: *//p' .loop)
if [ "$count" -gt 2 ]; then
    rm .loop
    exit 0
fi
sed -i "s/^iteration: .*/iteration: $((count + 1))/" .loop
echo 'Make it better.' >&2
exit 2
