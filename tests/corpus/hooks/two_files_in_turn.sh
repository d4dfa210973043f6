#!/bin/bash
# Blue/green state: write one, keep the other as it was.
[ -d .claude ] || mkdir .claude
cd .claude || exit 1

if [ -f state.blue ]; then
  mv state.blue state.green
  active=green
else
  rm -f state.green
  echo refused > state.blue
  active=blue
fi

echo "{\"decision\":\"block\",\"reason\":\"Environment $active is not healthy.\"}"
