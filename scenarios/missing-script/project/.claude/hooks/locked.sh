#!/bin/sh
# Stop hook: would refuse; it is not executable.
exit 2
