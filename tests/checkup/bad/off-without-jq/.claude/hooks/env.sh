#!/bin/bash
# Keeps the agent away from .env.
file=$(jq -r '.tool_input.file_path // empty' 2>/dev/null)
if [ "${file##*/}" = .env ]; then
  echo ".env holds secrets. Use .env.example for the names of the variables." >&2
  exit 2
fi
exit 0
