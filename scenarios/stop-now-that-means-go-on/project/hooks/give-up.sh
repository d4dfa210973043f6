#!/bin/sh
# Stop hook: wants to end everything, since nothing can be done about a full disk.
echo '{"continue": false, "stopReason": "The disk is full."}'
