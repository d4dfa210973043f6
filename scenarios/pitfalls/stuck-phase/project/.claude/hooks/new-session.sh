#!/bin/sh
# SessionStart hook: clears the mark of the session before.
rm -f .state/phase
