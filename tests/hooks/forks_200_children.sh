#!/bin/bash
# Leaves two hundred children.
for _ in {1..200}; do sleep "$TOY_SECONDS" </dev/null >/dev/null 2>&1 & done
exit 0
