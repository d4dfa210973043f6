#!/bin/sh
# BeforeTool hook: ignores SIGTERM and never ends.
trap '' TERM
while :; do sleep 0.1; done
