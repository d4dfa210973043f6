#!/bin/sh
# PreToolUse hook: tells on standard error that it is alive.
echo 'heartbeat: 1 call' >&2
