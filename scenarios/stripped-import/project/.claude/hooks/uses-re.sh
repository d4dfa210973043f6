#!/bin/sh
# Stop hook: the work is done when the program splits by a regular expression.
if ! grep -q 're\.split' app.py; then
  echo 'split() does not use a regular expression yet.' >&2
  exit 2
fi
