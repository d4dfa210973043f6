#!/bin/bash
# Leaves two hundred children. None of them has the hook's output even for a moment, however busy the machine is.
exec </dev/null >/dev/null 2>&1
for _ in {1..200}; do sleep "$TOY_SECONDS" & done
exit 0
