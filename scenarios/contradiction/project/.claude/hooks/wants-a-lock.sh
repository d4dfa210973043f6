#!/bin/sh
# Stop hook: builds must be repeatable, so there must be a lock file.
if [ ! -e deps.lock ]; then
  echo 'deps.lock must be there: create it.' >&2
  exit 2
fi
