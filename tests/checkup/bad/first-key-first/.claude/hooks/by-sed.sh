#!/bin/bash
# Keeps the agent away from .env.
name=$(sed -n 's|.*"tool_name": *"[A-Za-z]*", *"tool_input": *{"file_path": *"\([^"]*\)".*|\1|p')
if [ "${name##*/}" = .env ]; then
  echo ".env holds secrets. Use .env.example for the names of the variables." >&2
  exit 2
fi
exit 0
