#!/bin/sh
# Stop hook: generated files are not wanted, so there must be no lock file.
if [ -e deps.lock ]; then
  echo 'deps.lock is generated: remove it.' >&2
  exit 2
fi
