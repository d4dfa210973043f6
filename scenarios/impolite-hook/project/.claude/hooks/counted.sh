#!/bin/sh
# Stop hook: asks for the tests to be run, twice at most, by a count of its own and in a form that most hosts know.
count=$(cat .asked 2>/dev/null || echo 0)
if [ "$count" -ge 2 ]; then
    rm .asked
    exit 0
fi
echo $((count + 1)) >.asked
echo 'Run the tests before you stop.' >&2
exit 2
