#!/bin/sh
# SessionStart hook: what it prints, the agent reads before anything else.
echo "House rules: write to out/, nowhere else."
