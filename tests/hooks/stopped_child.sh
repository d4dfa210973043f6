#!/bin/bash
# Leaves a child that is stopped.
sleep "$TOY_SECONDS" </dev/null >/dev/null 2>&1 &
until [ "$(cat "/proc/$!/comm")" = sleep ]; do :; done
kill -STOP $!
exit 0
