#!/bin/bash
# Leaves two children that keep nothing of its streams.
sleep "$TOY_SECONDS" </dev/null >/dev/null 2>&1 &
sleep "$TOY_SECONDS" </dev/null >/dev/null 2>&1 &
exit 0
