#!/bin/bash
# Waits for a child that takes very long.
sleep "$TOY_SECONDS"
exit 0
