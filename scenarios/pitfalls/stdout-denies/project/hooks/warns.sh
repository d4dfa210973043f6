#!/bin/sh
# PreToolUse hook: wants to warn without refusing, and prints the warning.
echo 'warning: the tests were not run today'
