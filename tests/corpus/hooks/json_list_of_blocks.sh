#!/bin/bash
# Keep a record of all blocks with their times, as a JSON list.
record=.stop-blocks.json
blocks='[]'
[ -s "$record" ] && blocks=$(< "$record")

printf -v entry '{"at": "%(%FT%T)T", "by": "coverage"}' -1
blocks=${blocks%]}
[ "$blocks" = '[' ] || blocks+=', '
echo "$blocks$entry]" > "$record"

if [ ! -d coverage ]; then
  echo "No coverage report was written." >&2
  exit 2
fi
