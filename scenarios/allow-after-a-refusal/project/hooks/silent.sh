#!/bin/sh
# PreToolUse hook: keeps a list of all calls, and has no say.
echo called >>calls.txt
