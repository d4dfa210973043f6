#!/bin/sh
# AfterAgent hook: fetches in a session of its own, which has no terminal, so that who would ask fails at once.
setsid -w git fetch >&2 || echo "The fetch failed; what others did is not known." >&2
exit 0
