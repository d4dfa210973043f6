#!/usr/bin/env -S python3 -S -E
"""Patience goes down a little with every refusal."""
import os
import sys

path = os.path.join(os.environ["HOME"], ".patience")
try:
    patience = float(open(path).read())
except (OSError, ValueError):
    patience = 1.0

if patience <= 0.05:
    sys.exit(0)

with open(path, "w") as f:
    f.write("%.3f\n" % (patience - 0.025))
sys.stderr.write("Docstrings are missing in public functions.\n")
sys.exit(2)
