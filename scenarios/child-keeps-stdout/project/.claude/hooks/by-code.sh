#!/bin/sh
# PreToolUse hook: starts an endless watcher with this hook's output or, with an argument, without, and refuses by exit code 2.
if [ "$1" = quiet ]; then
    sleep infinity </dev/null >/dev/null 2>&1 &
else
    sleep infinity &
fi
echo 'build/ is shared; remove single files in it instead.' >&2
exit 2
