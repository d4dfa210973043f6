#!/bin/sh
cat >/dev/null
git add -A
