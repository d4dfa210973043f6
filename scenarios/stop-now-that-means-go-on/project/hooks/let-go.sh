#!/bin/sh
# Stop hook: tells the person about the full disk, and lets the agent stop by saying nothing to the host.
echo 'The disk is full.' >told.txt
