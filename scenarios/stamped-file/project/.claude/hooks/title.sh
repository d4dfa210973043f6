#!/bin/sh
# Stop hook: the work is done when the title is spelled well.
if grep -q '^# Titles' page.md; then
  echo 'The title is still misspelled.' >&2
  exit 2
fi
