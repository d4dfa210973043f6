#!/bin/sh
# Marks the session as active.
touch .active
exit 0
