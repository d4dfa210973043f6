#!/bin/bash
# Refuses with exit code 2 while a child holds its standard error.
sleep "$TOY_SECONDS" </dev/null >/dev/null &
echo 'not yet' >&2
exit 2
