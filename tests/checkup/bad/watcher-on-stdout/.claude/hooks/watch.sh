#!/bin/bash
# Has a watcher for the time of the session.
cat >/dev/null
(
  for _ in $(seq 40); do
    sleep 1
  done
) &
echo "A watcher builds the pages while you work."
exit 0
