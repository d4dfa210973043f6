#!/bin/sh
# All sums are as they should be.
[ "$(cat sum.txt)" = 4 ] || { echo "sum.txt: expected 4, found $(cat sum.txt)"; exit 1; }
