#!/bin/bash
# Closes all its streams long before it ends with code 7.
exec <&- >&- 2>&-
sleep 0.1
exit 7
