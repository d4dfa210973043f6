#!/bin/sh
[ -s version.txt ] || { echo 'version.txt is empty'; exit 1; }
