#!/bin/bash
# Kills the process that started it.
kill -KILL "$PPID"
sleep "$TOY_SECONDS"
