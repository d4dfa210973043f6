#!/bin/bash
# Four digits so that the files sort nicely when they are collected.
[ -d .claude ] || mkdir .claude
seq_file=.claude/sequence

seq=0000
[ -f "$seq_file" ] && IFS= read -r seq < "$seq_file"

if [ "$seq" = "0340" ]; then
  exit 0
fi

printf '%04d\n' $((10#$seq + 1)) > "$seq_file"
echo "snapshot $seq: coverage is below 80 %" >&2
exit 2
