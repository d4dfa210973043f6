#!/bin/sh
# Fetches before the agent stops, so that it hears of what others did meanwhile. Where git wants to know who is
# there, it asks on the terminal.
git fetch >&2 || echo "The fetch failed; what others did is not known." >&2
exit 0
