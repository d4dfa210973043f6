#!/bin/sh
# Stop hook: asks once for the tests to be run, and keeps in a file that it has asked.
if [ -e .asked ]; then
    rm .asked
    exit 0
fi
touch .asked
echo 'Run the tests before you stop.' >&2
exit 2
