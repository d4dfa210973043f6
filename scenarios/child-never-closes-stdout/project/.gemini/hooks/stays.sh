#!/bin/sh
# BeforeTool hook: ignores SIGTERM and never ends.
trap '' TERM
sleep infinity
